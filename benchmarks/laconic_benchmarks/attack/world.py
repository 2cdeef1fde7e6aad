"""One attack: sessions of several clients through gateways that are restarted, doubled, broken and misled.

Beside the gateways under attack runs an undisturbed twin: one process per session, never restarted, told no lies. It
must send the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from laconic.exchange.plan import Plan
from laconic.gateway.planner import Planner
from laconic.tokens.count import counter
from laconic.wire.rate_limits import RateLimits
from laconic.wire.refusals import too_long
from laconic.wire.usage import Usage
from laconic_benchmarks.attack.conversations import Branch, ClientSession, Player, open_session, without_marks
from laconic_benchmarks.attack.gateways import ARCHIVE, ONE_STEP, DiskFaults, Fault, MovedClock, build_planner
from laconic_benchmarks.attack.laws import ArchiveReader, IncomingRequest, Violation, check_sent

_CALM: Final = frozenset({"", "kept", "reduced", "off"})  # what an answer says when no maintenance took place
_LINE: Final = 400  # bytes of the message of ours that a setting asks for
_SAMPLE: Final = 8_000  # bytes of a request from which its tokens are guessed
_POISON: Final = (
    (422, b'{"error":{"message":"Invalid value: you wrote \\"context window = 100\\""}}'),
    (400, b'{"error":{"message":"messages.3: maximum context length is 5 tokens, says the user"}}'),
    (422, b'{"detail":[{"input":"prompt is too long: 9 tokens > 7 maximum"}]}'),
    (413, b"input token count (12) exceeds the maximum number of tokens allowed (3)"),
)
_TOO_LONG_OPENAI: Final = (
    "This model's maximum context length is {most} tokens. However, your messages resulted in {sent} tokens."
)
_TOO_LONG: Final = {
    "anthropic": "prompt is too long: {sent} tokens > {most} maximum",
    "chat": _TOO_LONG_OPENAI,
    "responses": _TOO_LONG_OPENAI,
    "gemini": "The input token count ({sent}) exceeds the maximum number of tokens allowed ({most}).",
}
_STEPS: Final = (
    ("extend", 60.0),
    ("retry", 7.0),
    ("rewind", 4.0),
    ("fork", 3.0),
    ("side", 5.0),
    ("alike", 2.0),
    ("edit", 2.0),
    ("compact", 1.5),
    ("open", 4.0),
)
_BETWEEN: Final = (("pause", 0.10), ("restart", 0.05), ("rotate", 0.04), ("poison", 0.03))


@dataclass(frozen=True, slots=True)
class BrokenLaw:
    """A broken law, and how to see it again."""

    seed: int
    step: int
    format: str
    did: str
    violation: Violation


@dataclass
class AttackTally:
    """What happened in an attack."""

    steps: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    first: dict[str, BrokenLaw] = field(default_factory=dict)  # of each law
    sessions: int = 0
    restarts: int = 0
    faults: int = 0
    events: int = 0
    compared: int = 0  # requests that a twin was asked for too
    reduced: int = 0  # requests that were sent smaller than they came


@dataclass(frozen=True, slots=True)
class WorldPlan:
    """What makes one attack different from another."""

    flags: Mapping[str, object]
    steps: int
    sessions: int
    doubled: bool  # two gateways on one folder
    broken: bool  # disks fail
    teaches: bool  # answers carry usage and refusals
    quota: bool  # and little is left of a quota
    small: bool  # contents are mostly small


def plan_world(random: Random) -> WorldPlan:
    flags: dict[str, object] = {}
    if random.random() < 0.75:
        flags["context.standard"] = random.choice((3_000, 8_000, 25_000))
        flags["context.semantic"] = random.choice((500, 5_000))
        flags["context.economic"] = random.random() < 0.8
        flags["context.least_turns"] = random.choice(("1", "1", "3"))
    if random.random() < 0.3:
        flags["gateway.window"] = random.choice((4_000, 12_000, 60_000))
    if random.random() < 0.05:
        flags["context.meta"] = True
    teaches = random.random() < 0.3
    return WorldPlan(
        flags=flags,
        steps=random.choice((60, 120, 250, 400)),
        sessions=random.choice((1, 2, 4, 12, 20)),
        doubled=random.random() < 0.25,
        broken=random.random() < 0.3,
        teaches=teaches,
        quota=teaches and random.random() < 0.5,
        small=random.random() < 0.9,
    )


BuildGateway = Callable[[Path, MovedClock, Mapping[str, object]], Planner]


class World:
    """One attack with one seed."""

    def __init__(self, seed: int, folder: Path, tally: AttackTally, build: BuildGateway = build_planner) -> None:
        self.seed = seed
        self._build = build
        self.random = Random(seed)
        self.plan = plan_world(self.random)
        self.clock = MovedClock()
        self.tally = tally
        self.player = Player(self.random)
        self._main, self._beside = folder / "main", folder / "twin"
        self._gateways = [self._start() for _ in range(1 + self.plan.doubled)]
        self._twins: dict[int, Planner] = {}
        self._sessions: list[ClientSession] = []
        self._faults = DiskFaults((self._main, self._beside), Random(seed))
        self._fault_ends = 0
        self._step = 0
        self._did = ""
        self._archive = ArchiveReader(self._main / ARCHIVE)
        self._limits: dict[int, int] = {}  # tokens that a model really takes, by session

    def run(self, steps: int) -> int:
        """So many steps, or as many as its plan says; returns how many there were."""
        steps = min(steps, self.plan.steps)
        for self._step in range(1, steps + 1):
            self._take_step()
        if self._faults.active:
            self._faults.end()
        return steps

    def _take_step(self) -> None:
        random = self.random
        self._did = random.choices([name for name, _ in _STEPS], [weight for _, weight in _STEPS])[0]
        if not self._sessions or (self._did == "open" and len(self._sessions) < self.plan.sessions):
            self._did = "open"
        elif self._did == "open":
            self._did = "extend"
        self.tally.steps[self._did] += 1
        session, branch, turns = self._choose()
        self.clock.now += random.choice((1.0, 5.0, 20.0))
        for name, chance in _BETWEEN:
            if random.random() < chance:
                getattr(self, f"_{name}")(session)
        self._break_or_repair()
        self._send(session, branch, turns)

    def _choose(self) -> tuple[ClientSession, Branch, int | None]:
        """What the client does; the branch, and how many of its turns are sent."""
        random, player = self.random, self.player
        if self._did == "open":
            session = self._open()
            player.grow(session, session.branches[0], random.choice((0, 1, 6, 25)))
            return session, session.branches[0], None
        session = random.choice(self._sessions[-6:] if random.random() < 0.8 else self._sessions)
        branch = random.choice(session.branches[-3:])
        if self._did == "extend":
            player.extend(session, branch)
        elif self._did == "rewind":
            player.rewind(session, branch)
        elif self._did == "fork":
            branch = player.fork(session, branch)
        elif self._did == "alike":
            branch = player.open_alike(session)
        elif self._did == "edit":
            player.edit(session, branch)
        elif self._did == "compact":
            player.compact(session, branch)
        elif self._did == "side":
            return session, branch, random.randrange(1, len(branch.turns) + 1)
        return session, branch, None

    def _open(self) -> ClientSession:
        number = self.seed * 100 + len(self._sessions)
        session = open_session(self.random, number, shared_key=not self.plan.teaches, small=self.plan.small)
        self._sessions.append(session)
        self.tally.sessions += 1
        self._limits[id(session)] = self.random.choice((2_000, 10_000, 50_000, 200_000))
        return session

    # between requests

    def _pause(self, session: ClientSession) -> None:
        self.clock.now += self.random.choice((1.0, 60.0, 299.0, 301.0, 1_000.0, 3_600.0, 10_800.0))

    def _restart(self, session: ClientSession) -> None:
        self._gateways[self.random.randrange(len(self._gateways))] = self._start()
        self.tally.restarts += 1
        self._did += "+restart"
        self._forgets()

    def _rotate(self, session: ClientSession) -> None:
        """The key changes; the session says that it is the same."""
        if session.stated:
            self.player.rotate_key(session, self._step)
            self._did += "+rotate"

    def _poison(self, session: ClientSession) -> None:
        """An error that quotes what a user wrote; the twin never hears of it."""
        caller = session.branches[-1].caller
        status, said = self.random.choice(_POISON)
        gateway = self.random.choice(self._gateways)
        length = too_long(status, said)
        if length is not None and caller is not None:
            gateway.exchange.engine.overflowed(caller, length)
        self._did += "+poison"

    def _break_or_repair(self) -> None:
        if self._faults.active and self._step >= self._fault_ends:
            self._faults.end()
        elif self.plan.broken and not self._faults.active and self.random.random() < 0.04:
            names: tuple[Fault, ...] = ("full", "unwritable", "deleted", "garbage", "locked")
            fault = self.random.choices(names, (4, 4, 1, 1, 0.05))[0]
            self._faults.begin(fault)
            self._fault_ends = self._step + (1 if fault in ONE_STEP else self.random.randrange(1, 12))
            self.tally.faults += 1
            self._did += f"+{fault}"
            for session in self._sessions:
                session.events += 1  # bytes that were sent may change
                if fault in {"deleted", "garbage"}:
                    session.references.clear()
        else:
            return
        for session in self._sessions:
            session.events += 1

    # requests

    def _send(self, session: ClientSession, branch: Branch, turns: int | None) -> None:
        request = session.request(branch, turns)
        gateway = self.random.choice(self._gateways)
        plan = self._ask(gateway, self._main, session, session.headers, request)
        found = self._judge(session, branch, request, plan, whole=turns is None)
        headers = session.headers if self.plan.teaches else session.first_headers
        twin = self._twin(session)
        other = self._ask(twin, self._beside, session, headers, request) if session.compared else None
        if other is not None:
            self.tally.compared += 1
            if other.body != plan.body:
                found.append(Violation("different", difference(other.body, plan.body)))
                session.compared = False  # what follows from it differs too
        self._record(session, found)
        if self.plan.teaches:
            self._answer(session, request, [(gateway, plan)] if other is None else [(gateway, plan), (twin, other)])

    def _ask(
        self,
        planner: Planner,
        folder: Path,
        session: ClientSession,
        headers: Mapping[str, str],
        request: IncomingRequest,
    ) -> Plan:
        body = request.body.encode()
        with self._faults.during_request(folder):
            return planner.plan(session.target, headers, "", body)

    def _judge(
        self, session: ClientSession, branch: Branch, request: IncomingRequest, plan: Plan, *, whole: bool
    ) -> list[Violation]:
        found = []
        if (plan.failed or plan.caller is None) and not self._faults.active:
            found.append(Violation("failed", plan.failed or "the request was not understood"))
        adds = _LINE if self.plan.flags.get("context.meta") else 0
        found += check_sent(request, plan.body, self._archive, adds=adds)
        event = plan.notes.get("action", "") not in _CALM
        session.events += event
        self.tally.events += event
        self.tally.reduced += len(plan.body) < len(request.body.encode())
        if whole:
            found += self._check_prefix(session, branch, request, plan.body, event=event)
            branch.sent, branch.request, branch.events = plan.body, request, session.events
            branch.caller = plan.caller
        return found + self._check_references(session, request, plan)

    def _check_prefix(
        self, session: ClientSession, branch: Branch, request: IncomingRequest, out: bytes, *, event: bool
    ) -> list[Violation]:
        """Between maintenance events what was sent stays as it was sent."""
        before = branch.request
        if before is None or event or branch.events != session.events or adds_messages(self.plan):
            return []
        if not _extends(request, before) or request.head != before.head:
            return []
        head, tail = request.head.encode(), request.tail.encode()
        if not all(body.startswith(head) and body.endswith(tail) for body in (branch.sent, out)):
            return []  # a thinking budget changed with a quota
        sent, now = without_marks(branch.sent[: -len(tail)]), without_marks(out[: -len(tail)])
        if now.startswith(sent):
            return []
        return [Violation("prefix", difference(sent, now[: len(sent)]))]

    def _check_references(self, session: ClientSession, request: IncomingRequest, plan: Plan) -> list[Violation]:
        """References that a session was given stay good."""
        if len(plan.body) == len(request.body):
            return []
        refs = self._archive.refs
        gone = session.references - refs
        if self._faults.active != "garbage":
            session.references -= gone
            text = plan.body.decode("utf-8", "replace")
            incoming = request.body
            session.references |= {ref for ref in refs if ref in text and ref not in incoming}
            return [Violation("reference", f"nothing is kept under {ref} any more") for ref in sorted(gone)]
        return []

    def _record(self, session: ClientSession, found: list[Violation]) -> None:
        for one in found:
            if one.law in {"lost", "rewritten"}:
                if one.detail.partition(": ")[2] in session.reported:
                    continue
                session.reported.add(one.detail.partition(": ")[2])
            self.tally.broken[one.law] += 1
            self.tally.first.setdefault(
                one.law, BrokenLaw(self.seed, self._step, session.provider.name, self._did, one)
            )

    # what the provider says

    def _answer(
        self, session: ClientSession, request: IncomingRequest, hearers: Sequence[tuple[Planner, Plan]]
    ) -> None:
        """The model takes it, or says that it is too long; the gateway hears it first, then the twin."""
        plan = hearers[0][1]
        if plan.caller is None:
            return
        tokens, most = count_roughly(plan.body), self._limits[id(session)]
        if tokens > most and self.random.random() < 0.3:
            text = _TOO_LONG[session.provider.name].format(sent=tokens, most=most)
            self._refuse(session, request, hearers, text.encode())
            return
        left = self.random.choice((1_000, 20_000, 150_000)) if self.plan.quota else None
        limits = None if left is None else RateLimits(tokens=200_000, tokens_left=left, tokens_reset=30.0)
        usage = Usage(input=tokens // 10, cache_read=tokens - tokens // 10, output=200)
        for planner, made in hearers:
            if made.caller is not None:
                planner.exchange.engine.answered(made.caller, usage, limits)
        if len(self._gateways) > 1:
            self._forgets()  # only one of two heard it

    def _refuse(
        self,
        session: ClientSession,
        request: IncomingRequest,
        hearers: Sequence[tuple[Planner, Plan]],
        said: bytes,
    ) -> None:
        """The request was too long: it is planned once more, as the proxy does."""
        self._did += "+too long"
        session.events += 1
        length = too_long(400, said)
        folders = (self._main, self._beside)
        for (planner, made), folder in zip(hearers, folders, strict=False):
            if made.caller is not None and length is not None:
                planner.exchange.engine.overflowed(made.caller, length)
            again = self._ask(planner, folder, session, session.headers, request)
            if folder is self._main:
                self._record(session, self._judge(session, Branch([]), request, again, whole=False))
        session.events += 1

    def _forgets(self) -> None:
        """What a process was told by a provider it need not know after a restart: it may then decide otherwise."""
        if self.plan.teaches:
            for session in self._sessions:
                session.compared = False

    # processes

    def _start(self) -> Planner:
        return self._build(self._main, self.clock, self.plan.flags)

    def _twin(self, session: ClientSession) -> Planner:
        """A process that serves this session alone, from its first request on."""
        if id(session) not in self._twins:
            self._twins[id(session)] = self._build(self._beside, self.clock, self.plan.flags)
        return self._twins[id(session)]


def count_roughly(body: bytes) -> int:
    """Tokens of a request as some provider might count them, from a sample of it."""
    sample = body[:_SAMPLE].decode("utf-8", "replace")
    return round(counter()(sample) * len(body) / max(1, len(sample)))


def adds_messages(plan: WorldPlan) -> bool:
    return bool(plan.flags.get("context.meta"))


def _extends(request: IncomingRequest, before: IncomingRequest) -> bool:
    """Whether a request begins with all messages of another, cache marks aside."""
    if len(request.messages) < len(before.messages):
        return False
    old, new = before.messages, request.messages[: len(before.messages)]
    return all(
        a == b or without_marks(a.encode()) == without_marks(b.encode()) for a, b in zip(old, new, strict=True)
    )


def difference(first: bytes, second: bytes) -> str:
    """Where two bodies part, with a little of both."""
    least = min(len(first), len(second))
    at = next((at for at in range(0, least, 4096) if first[at : at + 4096] != second[at : at + 4096]), least)
    while at < least and first[at] == second[at]:
        at += 1
    start = max(0, at - 40)
    shown = f"{first[start : at + 80]!r} and {second[start : at + 80]!r}"
    return f"{len(first)} and {len(second)} bytes, from byte {at}: {shown}"
