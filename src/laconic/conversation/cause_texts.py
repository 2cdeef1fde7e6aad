"""The causes of cost: what each is called, and what would have avoided it."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Cause = Literal[
    "carried",
    "growth",
    "start",
    "answers",
    "pause_5m",
    "pause_1h",
    "model_switch",
    "compaction",
    "tools_changed",
    "tools_reordered",
    "json_rewritten",
    "system_changed",
    "message_changed",
    "rewind",
    "marks_moved",
    "prefix_changed",
    "own_event",
    "provider",
]


class CauseText(msgspec.Struct, frozen=True):
    """What a cause is called, and what would have avoided it; empty: it is no waste."""

    label: str
    fix: str = ""


CAUSES: Final[dict[Cause, CauseText]] = {
    "carried": CauseText("history read again from the cache"),
    "growth": CauseText("new text, written once"),
    "start": CauseText("first requests: system prompt, tools, first message"),
    "answers": CauseText("answers of the model"),
    "pause_5m": CauseText(
        "cold after a pause of more than 5 minutes",
        "a cache that lives an hour (`ttl: 1h`), or an answer within 5 minutes",
    ),
    "pause_1h": CauseText(
        "cold after a pause of more than an hour",
        "no cache lives that long: compact or start a new session before a long break",
    ),
    "model_switch": CauseText(
        "another model, whose cache was empty", "switch models between sessions, not within one"
    ),
    "compaction": CauseText(
        "the client compacted its history", "shorter results from the start: `laconic wrap` keeps histories small"
    ),
    "tools_changed": CauseText(
        "the client changed its tools", "connect MCP servers before the session, and keep them connected"
    ),
    "tools_reordered": CauseText(
        "the client changed the order of its tools", "the gateway sends the old order: `context.repair`"
    ),
    "json_rewritten": CauseText(
        "the client wrote the same JSON in other bytes", "the gateway sends the old bytes: `context.repair`"
    ),
    "system_changed": CauseText(
        "the client changed its system prompt", "move what changes (dates, git status) out of the system prompt"
    ),
    "message_changed": CauseText(
        "the client changed an old message", "append instead of editing; leave old messages as they are"
    ),
    "rewind": CauseText("the history was rewound", "rewind soon after the request that you take back"),
    "marks_moved": CauseText(
        "the client's cache mark was out of reach", "the gateway adds a mark within reach: `context.repair`"
    ),
    "prefix_changed": CauseText(
        "tools or system prompt changed, or the provider dropped its cache",
        "run the client through `laconic wrap`: its record shows which",
    ),
    "own_event": CauseText("Laconic shortened the history", "it pays for itself later: see `laconic stats`"),
    "provider": CauseText(
        "the cache was gone though nothing had changed", "nothing on this side: the provider dropped it"
    ),
}
