"""A coding agent with planted causes of cost: its requests go to a simulated provider, and the truth is known.

Its prompts are made of words drawn at random; what a provider caches of them follows the rules of the real ones.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final

import msgspec

from laconic.conversation.cause_texts import Cause
from laconic.conversation.simulated_cache import CacheBlock, ProviderCache
from laconic.wire.cache_rules import FIVE_MINUTES, HOUR, CacheRules
from laconic.wire.usage import Usage

Json = dict[str, Any]
_WORDS: Final = (
    "parse",
    "index",
    "token",
    "cache",
    "merge",
    "split",
    "order",
    "value",
    "route",
    "draft",
    "tests",
    "check",
)
_BYTES: Final = 4  # of a token
MODELS: Final = {"anthropic": ("claude-sonnet-4-5", "claude-opus-4-5"), "openai": ("gpt-5", "gpt-5-mini")}
DIRECT: Final[tuple[Cause, ...]] = (
    "pause_5m",
    "pause_1h",
    "model_switch",
    "compaction",
    "tools_changed",
    "tools_reordered",
    "json_rewritten",
    "system_changed",
    "message_changed",
    "marks_moved",
)
HARMLESS: Final = ("short pause", "long result", "rewind", "many small calls")


class SentTurn(msgspec.Struct, frozen=True):
    """One request as it was sent, with what the provider counted and the truth about it."""

    at: float
    body: Json
    usage: Usage
    planted: str  # a cause, one of the harmless events, or nothing
    said: list[Json]  # blocks of the answer before it
    asked: list[Json]  # blocks of the user's side behind that


class PlantedClient:
    """The state of one session. `body` is the next request."""

    def __init__(self, random: Random, models: Sequence[str], ttl: float, marked: int = 0) -> None:
        self._random = random
        self._models = models
        self._calls = 0
        self._lost: list[Json] = []
        self.ttl = ttl
        self.model = models[0]
        self.tools = [self._tool(number) for number in range(10)]
        self.system = [self._text(90) for _ in range(random.randrange(25, 60))]
        self._marked = marked or random.choice((1, 1, 2))  # messages at the end that carry a mark
        self.said: list[Json] = []
        self.asked: list[Json] = [{"type": "text", "text": self._text(random.choice((60, 200, 3_000)))}]
        self.messages: list[Json] = [{"role": "user", "content": self.asked}]

    def body(self) -> Json:
        """As clients mark requests: behind the system prompt, and in the last one or two of the user's messages."""
        mark: Json = {"type": "ephemeral"}
        if self.ttl == HOUR:
            mark["ttl"] = "1h"
        messages = copy.deepcopy(self.messages)
        for message in messages[::-2][: self._marked]:
            message["content"][-1]["cache_control"] = mark
        return {
            "model": self.model,
            "max_tokens": 8000,
            "metadata": {"user_id": "session_planted"},
            "tools": copy.deepcopy(self.tools),
            "system": [{"type": "text", "text": "\n".join(self.system), "cache_control": mark}],
            "messages": messages,
        }

    def answer(self, calls: int = 1, size: int = 0) -> None:
        """The model calls tools; their results are the next message."""
        blocks: list[Json] = [{"type": "text", "text": self._text(30)}]
        results = []
        for _ in range(calls):
            self._calls += 1
            id = f"toolu_{self._calls:04}"
            given = {"path": self._text(2), "limit": self._random.randrange(500), "why": self._text(10)}
            blocks.append({"type": "tool_use", "id": id, "name": self.tools[0]["name"], "input": given})
            tokens = size or self._random.randrange(150, 900)
            results.append({"type": "tool_result", "tool_use_id": id, "content": self._text(tokens)})
        self.said, self.asked = blocks, results
        self.messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]

    # What is planted. Each changes the next request.

    def switch_model(self) -> None:
        self.model = next(model for model in self._models if model != self.model)

    def change_tools(self) -> None:
        """A server comes, goes, or describes a tool anew."""
        kind = self._random.randrange(3)
        if kind == 0 or len(self.tools) < 6:
            self.tools.append(self._tool(self._random.randrange(1000, 9999)))
        elif kind == 1:
            del self.tools[self._random.randrange(1, len(self.tools))]
        else:
            self.tools[self._random.randrange(1, len(self.tools))]["description"] = self._text(30)

    def reorder_tools(self) -> None:
        """Servers connect in another order."""
        self.tools.insert(1, self.tools.pop())

    def rewrite_json(self) -> None:
        """The same schemas from a map without an order."""
        for tool in self.tools:
            properties = tool["input_schema"]["properties"]
            tool["input_schema"]["properties"] = dict(reversed(properties.items()))

    def rewrite_arguments(self) -> None:
        """The same calls from a map without an order."""
        for message in self.messages[1::2]:
            for block in message["content"]:
                if block["type"] == "tool_use":
                    block["input"] = dict(reversed(block["input"].items()))

    def lose_server(self) -> None:
        self._lost = self.tools[2:5]
        del self.tools[2:5]

    def regain_server(self) -> None:
        """It is back, behind all others."""
        self.tools += self._lost

    def change_system(self) -> None:
        self.system[self._random.randrange(2, len(self.system))] = self._text(12)

    def change_message(self) -> None:
        """An old result becomes another: clients clear, refresh or annotate what they sent."""
        first = self._random.randrange(2, max(3, len(self.messages) // 2), 2)
        self.messages[first]["content"][0]["content"] = self._text(120)

    def compact(self) -> None:
        self.asked = [{"type": "text", "text": self._text(700)}]
        self.messages = [{"role": "user", "content": self.asked}]

    def rewind(self) -> None:
        """The user takes back the last turn and says something else."""
        del self.messages[-2:]
        self.said, self.asked = [], [{"type": "text", "text": self._text(60)}]
        self.messages[-1]["content"] += self.asked

    def _tool(self, number: int) -> Json:
        properties = {}
        for name in self._random.sample(_WORDS, 4):
            properties[name] = {"type": "string", "description": self._text(20)}
        schema = {"type": "object", "properties": properties}
        return {"name": f"tool_{number}", "description": self._text(60), "input_schema": schema}

    def _text(self, tokens: int) -> str:
        return " ".join(
            f"{self._random.choice(_WORDS)}{self._random.randrange(99)}" for _ in range(max(1, tokens // 2))
        )


class SimulatedProvider:
    """Counts and caches what arrives, on a clock."""

    def __init__(self, rules: CacheRules) -> None:
        self.now = 1_790_000_000.0
        self._cache = ProviderCache(rules, lambda: self.now)
        self._marks = bool(rules.marks)

    def send(self, body: Json, output: int) -> Usage:
        usage = self._cache.send(list(cache_blocks(body, marks=self._marks)))
        return msgspec.structs.replace(usage, output=output)


def cache_blocks(body: Json, *, marks: bool) -> Iterator[CacheBlock]:
    """A request as a provider reads it: the order of keys inside of schemas and arguments is part of the prompt."""
    yield CacheBlock(body["model"].encode(), 0)
    blocks = [*body.get("tools", ()), *body["system"]]
    for message in body["messages"]:
        blocks += message["content"]
    for block in blocks:
        mark = block.get("cache_control")
        ttl = 0.0
        if mark and marks:
            ttl = HOUR if mark.get("ttl") == "1h" else FIVE_MINUTES
        bare = {key: inner for key, inner in block.items() if key != "cache_control"}
        content = json.dumps(bare).encode()
        yield CacheBlock(content, len(content) // _BYTES, ttl)


Send = Callable[[Json, str], Usage]  # a request, and what is planted in it -> what it used


def play(
    client: PlantedClient,
    provider: SimulatedProvider,
    random: Random,
    causes: Sequence[str],
    send: Send | None = None,
) -> Iterator[SentTurn]:
    """A session in which each of these happens once, with ordinary turns between them."""
    planned = list(causes)
    random.shuffle(planned)
    for number in range(8 + 6 * len(planned)):
        planted, pause = "", random.uniform(4, 90)
        if number >= 12 and number % 6 == 0 and planned:
            planted = planned.pop()
            pause = _plant(client, planted, random, pause)
        elif number:
            client.answer()
        provider.now += pause
        body = client.body()
        if send is None:
            usage = provider.send(body, random.randrange(40, 400))
        else:
            usage = send(body, planted)
        yield SentTurn(
            at=provider.now, body=body, usage=usage, planted=planted, said=client.said, asked=list(client.asked)
        )


def _plant(client: PlantedClient, planted: str, random: Random, pause: float) -> float:
    """Change the next request; returns the pause before it. Of two causes the first is the true one."""
    if planted == "rewind":
        client.rewind()
        return pause
    calls, size = 1, 0
    if planted == "long result":
        size = 9_000
    elif planted == "marks_moved":
        calls, size = random.randrange(13, 20), 120
    elif planted == "many small calls":
        calls, size = 8, 120
    client.answer(calls, size)
    changes: dict[str, Callable[[], None]] = {
        "model_switch": client.switch_model,
        "compaction": client.compact,
        "tools_changed": client.change_tools,
        "tools_reordered": client.reorder_tools,
        "json_rewritten": client.rewrite_json,
        "system_changed": client.change_system,
        "message_changed": client.change_message,
    }
    pauses = {"pause_5m": (310, 3_400), "pause_1h": (3_700, 90_000), "short pause": (150, 280)}
    for word in planted.split(" + "):
        if word in changes:
            changes[word]()
        if word in pauses:
            pause = random.uniform(*pauses[word])
    return pause
