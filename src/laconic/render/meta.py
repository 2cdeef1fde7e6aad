"""How full the context is, in one line for the end of a request: volatile words never stand in the prefix."""

from __future__ import annotations


def meta(tokens: int, window: int, task: str) -> str:
    """`[context 45k of 200k tokens; task: Fix the parser]`"""
    of = f" of {_thousands(window)}" if window else ""
    doing = f"; task: {' '.join(task.split())[:60]}" if task else ""
    return f"[context {_thousands(tokens)}{of} tokens{doing}]"


def _thousands(tokens: int) -> str:
    return f"{round(tokens / 1000)}k" if tokens >= 1000 else str(tokens)
