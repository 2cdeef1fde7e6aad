"""The one line that ends an answer from which something was left out."""

from __future__ import annotations

from laconic.records import Omission


def footer(omission: Omission | None) -> str:
    """How many of how many, and the call that brings more; empty when the answer is whole."""
    if omission is None or omission.missing <= 0:
        return ""
    more = ""
    if omission.more:
        more = f"; more: {omission.more}"
    shown = str(omission.shown)
    if omission.skipped:
        shown = f"{omission.skipped + 1}-{omission.skipped + omission.shown}"
    return f"[{shown} of {omission.total} {omission.unit}{more}]\n"
