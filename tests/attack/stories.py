"""Sessions with known contents through gateways on a folder, for tests that name one thing that happened to users."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

from laconic.exchange.plan import Plan
from laconic.gateway.planner import Planner
from laconic_benchmarks.attack.conversations import Branch, ClientSession
from laconic_benchmarks.attack.gateways import ARCHIVE, MovedClock, build_planner
from laconic_benchmarks.attack.laws import ArchiveReader, IncomingRequest, check_sent
from laconic_benchmarks.attack.material import Material, Media, ToolOutput, encode, png
from laconic_benchmarks.attack.providers import (
    AgentTurn,
    AnthropicMessages,
    ChatCompletions,
    JsonStyle,
    RequestFields,
    RequestWriter,
    ToolCall,
)
from laconic_benchmarks.attack.world import difference

ANTHROPIC = AnthropicMessages()
CHAT = ChatCompletions()


def listing(name: str, lines: int = 150) -> str:
    """A file of about 2,800 tokens as an agent reads it."""
    return "\n".join(
        f"{n:>6}\t    {name}_{n} = compute_{name}({n * 37 % 101}, 'some text')" for n in range(1, lines + 1)
    )


def reading(name: str, output: ToolOutput | None = None) -> AgentTurn:
    """The agent reads a file."""
    call = ToolCall(
        f"toolu_{name}", "Read", f'{{"file_path":"src/{name}.py"}}', output or ToolOutput((listing(name),))
    )
    return AgentTurn(said=f"Let me look at {name}.", calls=(call,))


def screenshot(size: int) -> Media:
    """A picture of so many bytes, 1,280 by 800 pixels."""
    return Media("image/png", encode(png(1280, 800, Random(size).randbytes(size))))


class Story:
    """One folder, one clock, any number of gateways and sessions; every request that is sent is judged."""

    def __init__(self, folder: Path, **flags: object) -> None:
        self.folder = folder
        self.flags: Mapping[str, object] = flags
        self.clock = MovedClock()
        self.archive = ArchiveReader(folder / ARCHIVE)

    def gateway(self) -> Planner:
        return build_planner(self.folder, self.clock, self.flags)

    def session(
        self,
        name: str = "one",
        provider: RequestWriter = ANTHROPIC,
        model: str = "claude-sonnet-4-5",
        *,
        stated: bool = True,
        opening: str = "",
    ) -> ClientSession:
        headers = {"authorization": "Bearer token-1"}
        if stated:
            headers["x-session-id"] = f"session-{name}"
        session = ClientSession(
            provider=provider,
            fields=RequestFields(model=model),
            style=JsonStyle(),
            material=Material(Random(name)),
            headers=headers,
            stated=stated,
        )
        session.branches.append(Branch([(provider.user(session.style, opening or f"Fix the totals of {name}."),)]))
        return session

    def read_files(self, session: ClientSession, count: int, prefix: str = "m", branch: int = 0) -> None:
        for number in range(count):
            self.add(session, reading(f"{prefix}{number}"), branch)

    def add(self, session: ClientSession, turn: AgentTurn, branch: int = 0) -> None:
        session.branches[branch].turns.append(tuple(session.provider.turn(session.style, turn)))

    def send(self, gateway: Planner, session: ClientSession, branch: int = 0, turns: int | None = None) -> Plan:
        """Send it, and hold the laws about one request: it is sent, nothing is lost, it is valid and not larger."""
        self.clock.now += 5
        request = session.request(session.branches[branch], turns)
        plan = gateway.plan(session.target, session.headers, "", request.body.encode())
        self.judge(request, plan)
        return plan

    def judge(self, request: IncomingRequest, plan: Plan) -> None:
        problems = [f"{one.law}: {one.detail}" for one in check_sent(request, plan.body, self.archive)]
        if plan.failed or plan.caller is None:
            problems.insert(0, f"failed: {plan.failed or 'not understood'}")
        if problems:
            raise AssertionError(f"{len(problems)} broken laws, the first: {problems[0]}")


def is_event(plan: Plan) -> bool:
    """Whether a request was the occasion of maintenance: only then may bytes change that were sent before."""
    return plan.notes.get("action") not in {"kept", "reduced"}


def assert_same(first: Plan, second: Plan) -> None:
    if first.body != second.body:
        raise AssertionError(f"sent: {difference(first.body, second.body)}")


def assert_goes_on(before: bytes, plan: Plan, tail: bytes) -> bytes:
    """What was sent before stands at the start of a request, unless maintenance took place; returns what stays now."""
    if not is_event(plan) and not plan.body.startswith(before):
        raise AssertionError(f"changed: {difference(before, plan.body[: len(before)])}")
    return plan.body.removesuffix(tail)
