"""How long ago something was, in words."""

from __future__ import annotations


def age_text(seconds: float) -> str:
    for name, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {name} ago"
    return "just now"
