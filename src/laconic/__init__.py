"""Laconic: coding agents that spend fewer tokens, and less money, for the same work.

The names below are the library's public interface; docs/library.md says what stays stable. They are loaded on first use,
so that importing this module costs nothing; type checkers read `__init__.pyi`.
"""

from __future__ import annotations

__version__ = "0.1.0"
_HOMES = {
    "Conversation": "laconic.library.conversation",
    "CodeAnswer": "laconic.library.workspace",
    "LaconicError": "laconic.errors",
    "ShortenedRequest": "laconic.library.conversation",
    "ShortenedText": "laconic.library.text",
    "Workspace": "laconic.library.workspace",
    "count_tokens": "laconic.library.text",
    "shorten": "laconic.library.text",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'laconic' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
