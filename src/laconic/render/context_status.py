"""How full the context is, in one line for the end of a request: volatile words never go into the prefix."""

from __future__ import annotations


def write_context_status(tokens: int, window: int, task: str) -> str:
    """`[context 45k of 200k tokens; task: Fix the parser]`"""
    of = ""
    if window:
        of = f" of {_thousands(window)}"
    doing = ""
    if task:
        doing = f"; task: {' '.join(task.split())[:60]}"
    return f"[context {_thousands(tokens)}{of} tokens{doing}]"


def _thousands(tokens: int) -> str:
    if tokens >= 1000:
        return f"{round(tokens / 1000)}k"
    return str(tokens)
