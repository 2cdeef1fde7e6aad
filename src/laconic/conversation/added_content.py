"""What a request brought into the conversation, block by block: for the record of where tokens went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from laconic.conversation.history import History
from laconic.conversation.tool_use import ToolUse, about
from laconic.records import AddedBlock, AddedContent
from laconic.wire.parsed_request import ParsedRequest
from laconic.wire.session_titles import choose_title, find_project
from laconic.wire.turns_and_blocks import At, Block

_BEGINNING: Final = 6  # turns in which the user says what the session is about
_WORDS: Final = {"text": "", "thinking": "thinking", "redacted": "thinking", "reasoning": "thinking"}


def list_added_content(
    conversation: ParsedRequest, blocks: Iterable[Block], history: History, known: int, fixed: int
) -> AddedContent:
    """The blocks of this request that the one before did not have; all of them where there was none."""
    fresh = list(islice(blocks, known, None))
    calls: Mapping[At, Block] = {}
    if fresh:
        calls = conversation.calls(fresh[0].turn)
    entered = tuple(_describe_block(conversation, block, calls.get(block.at), history) for block in fresh)
    anew = known == 0
    if not anew:
        return AddedContent(history.tracker.turn, fixed, entered)
    return AddedContent(
        turn=history.tracker.turn,
        fixed=fixed,
        entered=entered,
        anew=anew,
        title=read_title(conversation),
        project=read_project(conversation),
    )


def _describe_block(conversation: ParsedRequest, block: Block, call: Block | None, history: History) -> AddedBlock:
    tracker = history.tracker
    sent = tracker.sizes[block.key]
    saved = sum(decision.whole - decision.after for decision in history.of(block.key).values())
    if block.kind == "call":
        return AddedBlock(
            key=block.key,
            kind="calls",
            tool=block.name,
            file=_file(about(block.name, block.input)),
            whole=sent + saved,
            tokens=sent,
        )
    if block.kind == "result":
        texts = tracker.texts.get(block.key)
        if texts:
            what = texts[0].about
        elif call:
            what = about(call.name, call.input)
        else:
            what = None
        name = call.name if call else block.name
        return AddedBlock(
            key=block.key,
            kind=what.kind if what else "other",
            tool=name,
            file=_file(what),
            whole=sent + saved,
            tokens=sent,
        )
    kind = _WORDS.get(block.kind, "other") or _role(conversation.turns[block.turn].role)
    return AddedBlock(key=block.key, kind=kind, tool="", file="", whole=sent + saved, tokens=sent)


def _role(role: str) -> str:
    if role == "system":
        return "instructions"
    return role


def _file(what: ToolUse | None) -> str:
    """The file that a call is about; a command that merely names some is about none."""
    if what and what.kind in {"read", "edit"}:
        return min(what.files, default="")
    return ""


def read_project(conversation: ParsedRequest) -> str:
    """The folder that the client works in, from its instructions or from what it says of itself before the user does."""
    said = [conversation.field("system").decode("utf-8", "replace")]
    for turn in conversation.turns[:_BEGINNING]:
        for block in turn.blocks:
            if block.kind == "text":
                said.append(block.text)
    return find_project(said)


def read_title(conversation: ParsedRequest) -> str:
    """How the user began. Clients send texts of their own before that, in the same message or in others."""
    if conversation.first_user < 0:
        return ""
    texts: list[str] = []
    for turn in conversation.turns[conversation.first_user :][:_BEGINNING]:
        if turn.role == "user":
            for block in turn.blocks:
                if block.kind == "text":
                    texts.append(block.text)
    return choose_title(texts)
