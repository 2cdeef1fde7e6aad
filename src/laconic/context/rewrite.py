"""Decisions as changes of blocks: the same block and the same decisions always give the same change."""

from __future__ import annotations

from collections.abc import Mapping

from laconic.context.ledger import Decision
from laconic.reduce.passage import passage
from laconic.render.passage import shown
from laconic.wire.model import Block, Change, Drop, SetInput, SetText


def written(decision: Decision, original: str) -> str:
    """The text that a decision puts in the place of the original."""
    base = original if decision.text is None else decision.text
    if decision.text is None or decision.runs:
        base = shown(passage(base), decision.runs, decision.note)
    return f"{base}\n{decision.rolled}" if decision.rolled else base


def change_of(block: Block, decisions: Mapping[str, Decision]) -> Change | None:
    """What becomes of a block; None when nothing does."""
    if any(decision.gone for decision in decisions.values()):
        return Drop()
    if not decisions or not block.editable:
        return None
    if block.kind == "call":
        arguments = block.input
        if not isinstance(arguments, dict):
            return None
        changed = dict(arguments)
        for field, decision in decisions.items():
            value = arguments.get(field)
            if isinstance(value, str):
                changed[field] = written(decision, value)
        return SetInput(changed)
    decision = decisions[""]
    return SetText(written(decision, block.text), keep_images=True)
