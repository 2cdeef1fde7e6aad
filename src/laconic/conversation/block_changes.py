"""Turn decisions into changes to blocks: the same block and decisions always give the same change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from laconic.conversation.ledger import Decision
from laconic.reduce.passage import passage, runs_within
from laconic.render.passage import passage_text
from laconic.wire.turns_and_blocks import Block, Change, SetInput, SetText, SetTexts


def write(decision: Decision, original: str) -> str:
    """The text that a decision puts in the place of the original."""
    base = original if decision.text is None else decision.text
    if decision.text is None or decision.runs:
        return passage_text(passage(base), decision.runs, decision.note)
    return base


def change_of(block: Block, decisions: Mapping[str, Decision], below: str = "") -> Change | None:
    """What becomes of a block; None when nothing does. `below` is a line for exchanges behind it that are gone."""
    if not (decisions or below) or not block.editable:
        return None
    if block.kind == "call":
        return _with_arguments(block, decisions)
    if not block.has_text:
        if not decisions:
            return None
        return SetText(write(decisions[""], block.text), keep_images=True)
    texts = block.texts
    if len(texts) > 1 and ("" not in decisions or decisions[""].text is None):
        return SetTexts(_write_each(texts, decisions.get(""), below))
    original = block.text
    if "" in decisions:
        text = write(decisions[""], original)
    else:
        text = original
    return SetText(f"{text}\n{below}" if below else text, keep_images=True)


def _write_each(texts: Sequence[str], decision: Decision | None, below: str) -> tuple[str | None, ...]:
    """Each text of a result without its own rows; the note stands in the last that lost any."""
    written: list[str | None] = [None] * len(texts)
    first, noted = 0, -1
    for at, text in enumerate(texts):
        last = first + text.count("\n")
        if decision is not None:
            runs = runs_within(decision.runs, first, last)
            shorter = passage_text(passage(text), runs)
            if runs or len(shorter) < len(text):
                written[at] = shorter
            if runs:
                noted = at
        first = last + 1
    if decision is not None and decision.note:
        written[noted] = f"{written[noted]}\n{decision.note}"
    if below:
        end = texts[-1] if written[-1] is None else written[-1]
        written[-1] = f"{end}\n{below}"
    return tuple(written)


def _with_arguments(block: Block, decisions: Mapping[str, Decision]) -> Change | None:
    arguments = block.input
    if not isinstance(arguments, dict):
        return None
    changed = dict(arguments)
    for field, decision in decisions.items():
        value = arguments.get(field)
        if isinstance(value, str):
            changed[field] = write(decision, value)
    return SetInput(changed)
