"""A recap of a span of history: what was asked, done, changed, and what is open. Deterministic, within a budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from laconic.conversation.findings import list_findings
from laconic.conversation.task_tracking import TrackedTask
from laconic.conversation.tool_use import about
from laconic.render.recap import RecapContent, recap_text
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.tool_exchanges import Exchange

BUDGET: Final = 3_000  # tokens
_FAILURE: Final = re.compile(r"(?i)\b(?:error|failed|failure|panic|exception|traceback|FAIL)\b")
_LINE: Final = 160  # characters of a line that is quoted


def recap(
    conversation: ParsedRequest,
    span: Sequence[Exchange],
    tasks: Sequence[TrackedTask],
    refs: Sequence[tuple[str, str]],
    *,
    count: Callable[[str], int],
    budget: int,
) -> str:
    """The recap of these exchanges; `refs` are what was said about archived texts, and where they are."""
    turns = {index for exchange in span for index in exchange.turns}
    last = max(turns, default=0)
    return recap_text(
        RecapContent(
            asked=tuple(_collect_requests(conversation, last)),
            tasks=tuple(f"{task.title}: {task.status}{' - ' + task.result if task.result else ''}" for task in tasks),
            changed=tuple(dict.fromkeys(_files(span, changes=True))),
            read=tuple(dict.fromkeys(_files(span, changes=False))),
            commands=tuple(_commands(span)),
            open=tuple(_open(span)),
            decisions=tuple(_decisions(conversation, turns)),
            archived=tuple(f"{ref} {what}" for ref, what in refs),
        ),
        budget,
        count,
    )


def _collect_requests(conversation: ParsedRequest, last: int) -> list[str]:
    """User messages stay verbatim in the conversation; the recap needs only those that it stands behind."""
    found: list[str] = []
    for turn in conversation.turns[:last]:
        if turn.role == "user" and turn.index != conversation.first_user:
            for block in turn.blocks:
                if block.kind == "text":
                    found.append(" ".join(block.text.split())[: 2 * _LINE])
    return found


def _files(span: Sequence[Exchange], *, changes: bool) -> list[str]:
    found = []
    for exchange in span:
        for call, result in exchange.pairs:
            what = about(call.name, call.input)
            if (
                what.changes == changes
                and what.kind in {"read", "edit"}
                and what.target
                and not (result and result.error)
            ):
                found.append(what.target)
    return found


def _commands(span: Sequence[Exchange]) -> list[str]:
    found = []
    for exchange in span:
        for call, result in exchange.pairs:
            what = about(call.name, call.input)
            if what.kind == "run":
                text = result.text.strip() if result else ""
                bad = result is not None and (result.error or _FAILURE.search(text[-2000:]) is not None)
                found.append(f"{what.target[:_LINE]} -> {'failed' if bad else 'ok'}")
    return found


def _open(span: Sequence[Exchange]) -> list[str]:
    """Failing lines of the last run of each command: what was mended since is not open."""
    newest: dict[str, list[str]] = {}
    for exchange in span:
        for call, result in exchange.pairs:
            what = about(call.name, call.input)
            if what.kind == "run" and result is not None:
                lines = []
                for line in result.text.split("\n"):
                    if _FAILURE.search(line):
                        lines.append(line.strip()[:_LINE])
                newest[what.target] = lines[:6]
    return [line for lines in newest.values() for line in lines]


def _decisions(conversation: ParsedRequest, turns: set[int]) -> list[str]:
    found = []
    for index in sorted(turns):
        for block in conversation.turns[index].blocks:
            if block.kind == "text":
                for line in list_findings(block.text, 3):
                    found.append(line[: 2 * _LINE])
    return found
