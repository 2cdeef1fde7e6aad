"""Conversations that grow turn by turn, and everything that clients do to them: retry, rewind, fork, edit, compact."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from laconic.exchange.caller import Caller, Target
from laconic_benchmarks.attack.laws import IncomingRequest
from laconic_benchmarks.attack.material import Material, Media, ToolOutput
from laconic_benchmarks.attack.providers import (
    MARK,
    PROVIDERS,
    AgentTurn,
    JsonStyle,
    RequestFields,
    RequestWriter,
    ToolCall,
)

_NUMBERS: Final = ("1.50", "1E+2", "12345678901234567890", "-0.0", "0", "3.14159265358979323846")
_MOST_MESSAGES: Final = 200
_MOST_CHARACTERS: Final = 900_000
_LONGEST: Final = 4_000_000  # where pictures of every size are wanted
_KEYS: Final = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}


@dataclass
class Branch:
    """One history: turns, each the messages that it consists of. Any number of turns from the start is a request."""

    turns: list[tuple[str, ...]]
    sent: bytes = b""  # the newest outgoing request
    request: IncomingRequest | None = None  # and what it was made from
    events: int = 0  # of the conversation, when it was sent
    caller: Caller | None = None  # whom the gateway took it for

    @property
    def messages(self) -> list[str]:
        return [message for turn in self.turns for message in turn]

    @property
    def characters(self) -> int:
        return sum(len(message) for turn in self.turns for message in turn)


@dataclass
class ClientSession:
    """A client's session: one way to open, and branches that all open in it."""

    provider: RequestWriter
    fields: RequestFields
    style: JsonStyle
    material: Material
    headers: dict[str, str]
    stated: bool  # whether it says which session it is
    marks: bool = False  # whether it moves cache marks
    large: bool = False
    branches: list[Branch] = field(default_factory=list)
    events: int = 0  # maintenance events so far
    calls: int = 0
    ids: list[str] = field(default_factory=list)  # of all calls; some are used again
    compared: bool = True  # whether a twin must still send the same
    first_headers: dict[str, str] = field(default_factory=dict)
    references: set[str] = field(default_factory=set)
    reported: set[str] = field(default_factory=set)  # losses that were already counted

    @property
    def target(self) -> Target:
        return self.provider.target(self.fields.model)

    def request(self, branch: Branch, turns: int | None = None) -> IncomingRequest:
        """The request of a branch; of its first so many turns, where a number is given."""
        leading = self.provider.leading(self.style, self.fields)
        messages = [*leading, *(message for turn in branch.turns[:turns] for message in turn)]
        if self.marks and messages[-1].endswith("}]}"):
            messages[-1] = f"{messages[-1][:-3]}{MARK}{messages[-1][-3:]}"
        return IncomingRequest(
            head=self.provider.head(self.style, self.fields),
            messages=tuple(messages),
            comma=self.style.comma,
            tail=self.provider.tail(self.style, self.fields),
            first=len(leading),
        )


def open_session(random: Random, number: int, *, shared_key: bool, small: bool) -> ClientSession:
    """A client that begins: a provider, a model, a way of writing JSON, a first message."""
    provider = random.choice(PROVIDERS)
    odd = random.random() < 0.1
    style = JsonStyle(ascii=odd or random.random() < 0.5, pretty=random.random() < 0.08)
    stated = random.random() < 0.6
    key = "key-shared" if shared_key else f"key-{number}"
    headers = {_KEYS.get(provider.name, "authorization"): f"Bearer {key}"}
    name = f"session-{number}" if stated else ""
    if stated and (provider.name == "gemini" or random.random() < 0.5):
        headers["x-session-id"], name = name, ""
    material = Material(random, odd=odd, small=small)
    fields = RequestFields(
        model=random.choice(provider.models),
        system=f"You are agent {number}. {material.words(60)}",
        session=name,
        output=random.choice((500, 4_000)),
        thinking=random.choice((0, 0, 8_000)),
    )
    session = ClientSession(
        provider=provider,
        fields=fields,
        style=style,
        material=material,
        headers=headers,
        stated=stated,
        marks=provider.name == "anthropic" and not style.pretty and random.random() < 0.5,
        large=not small,
        first_headers=dict(headers),
    )
    media = (material.media(),) if random.random() < 0.05 else ()
    opening = provider.user(style, f"Task {number}: {material.words(30)}", media)
    session.branches.append(Branch([(opening,)]))
    return session


class Player:
    """Does to sessions what clients do. Every method leaves a branch that can be sent."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def extend(self, session: ClientSession, branch: Branch) -> None:
        """One more turn; one that has grown too long begins again."""
        most = _LONGEST if session.large else _MOST_CHARACTERS
        if len(branch.messages) >= _MOST_MESSAGES or branch.characters > most:
            self.compact(session, branch)
        draw = self._random.random()
        if draw < 0.12:
            said = session.provider.turn(session.style, AgentTurn(session.material.words(30)))
            media = (session.material.media(),) if self._random.random() < 0.1 else ()
            branch.turns.append((*said, self._user(session, media=media)))
        else:
            branch.turns.append(tuple(session.provider.turn(session.style, self._turn(session))))

    def grow(self, session: ClientSession, branch: Branch, turns: int) -> None:
        for _ in range(turns):
            self.extend(session, branch)

    def rewind(self, session: ClientSession, branch: Branch) -> None:
        keep = self._random.randrange(1, len(branch.turns) + 1)
        del branch.turns[keep:]
        self.extend(session, branch)

    def fork(self, session: ClientSession, branch: Branch) -> Branch:
        made = Branch(branch.turns[: self._random.randrange(1, len(branch.turns) + 1)])
        self.extend(session, made)
        session.branches.append(made)
        return made

    def open_alike(self, session: ClientSession) -> Branch:
        """Another conversation with the same first message."""
        made = Branch(session.branches[0].turns[:1])
        self.grow(session, made, self._random.randrange(1, 12))
        session.branches.append(made)
        return made

    def edit(self, session: ClientSession, branch: Branch) -> None:
        """An old turn is written anew."""
        at = self._random.randrange(1, len(branch.turns)) if len(branch.turns) > 1 else 0
        if at:
            branch.turns[at] = tuple(session.provider.turn(session.style, self._turn(session)))
        self.extend(session, branch)

    def compact(self, session: ClientSession, branch: Branch) -> None:
        """The client's own summary: first message, summary, newest turns."""
        said = session.provider.turn(session.style, AgentTurn(f"Summary: {session.material.words(80)}"))
        branch.turns[1:-2] = [(*said, self._user(session))]

    def rotate_key(self, session: ClientSession, number: int) -> None:
        for name in ("authorization", "x-api-key", "x-goog-api-key"):
            if name in session.headers:
                session.headers[name] = f"Bearer oauth-{number}"

    def _user(self, session: ClientSession, media: tuple[Media, ...] = ()) -> str:
        return session.provider.user(session.style, session.material.words(20), media)

    def _turn(self, session: ClientSession) -> AgentTurn:
        random, material = self._random, session.material
        calls: list[ToolCall] = []
        for _ in range(random.choices((1, 2, 3, 4), (6, 2, 1, 1))[0]):
            calls.append(self._call(session, {call.id for call in calls}))
        session.ids += [call.id for call in calls]
        thinks = random.random() < 0.5
        return AgentTurn(
            said=material.words(12) if random.random() < 0.4 else "",
            thought=material.words(25) if thinks else "",
            signature=f"{random.getrandbits(128):x}/+==" if thinks else f"{random.getrandbits(64):x}",
            calls=tuple(calls),
            server=random.choices(("", "known", "unknown"), (30, 1, 1))[0],
            interleaved=random.random() < 0.5,
        )

    def _call(self, session: ClientSession, taken: Collection[str]) -> ToolCall:
        random, material = self._random, session.material
        session.calls += 1
        id = f"call_{session.calls}_{random.randrange(9)}"
        if session.ids and random.random() < 0.03 and (again := random.choice(session.ids)) not in taken:
            id = again
        name = random.choices(("Read", "Bash", "Edit", "TodoWrite"), (5, 5, 2, 1))[0]
        if name == "TodoWrite":
            return ToolCall(
                id, name, _todos(session.calls, session.style), ToolOutput(("Todos have been modified.",))
            )
        arguments: dict[str, object] = {}
        output = material.output()
        if name == "Bash":
            arguments = {"command": f"pytest {material.path()}", "description": material.words(3)}
        elif name == "Read":
            arguments = {"file_path": material.path()}
        else:
            arguments = {"new_string": material.text(), "file_path": material.path(), "old_string": material.text()}
            output = ToolOutput((f"The file has been updated. {material.words(3)}",))
        return ToolCall(id, name, self._written(arguments, session.style), output)

    def _written(self, arguments: Mapping[str, object], style: JsonStyle) -> str:
        """Arguments in the client's order, with numbers in forms that no encoder of ours would choose."""
        text = json.dumps(arguments, ensure_ascii=style.ascii)
        if self._random.random() < 0.3:
            return f'{text[:-1]}, "limit": {self._random.choice(_NUMBERS)}}}'
        return text


def _todos(number: int, style: JsonStyle) -> str:
    """A list that moves on: what was in progress is done, the next is in progress."""
    at = number % 7
    words = ("completed", "in_progress", "pending")
    rows = [
        {
            "content": f"Step {row}",
            "status": words[0 if row < at else 1 if row == at else 2],
            "activeForm": f"Doing {row}",
        }
        for row in range(7)
    ]
    return json.dumps({"todos": rows}, ensure_ascii=style.ascii)


def without_marks(body: bytes) -> bytes:
    """A request without its cache marks, which clients move from turn to turn."""
    return body.replace(MARK.encode(), b"")
