"""How many tokens an answer may have: the tool's default, the call's wish, the host's and the session's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.errors import BadSetting, UsageError

CEILING: Final = 10_000  # of any answer
BATCH: Final = 25_000  # of several calls that are under way together
_LEAST: Final = 50  # below that not even a footer fits
_WORDS: Final = {"minimal": 0.2, "compact": 0.4, "short": 0.4, "brief": 0.4, "standard": 1.0, "normal": 1.0}
_ALL: Final = {"full", "max", "verbose", "all"}


def limit(wish: str, default: int, *, pressure: float = 1.0, host: int | None = None, batch: int = BATCH) -> int:
    """Tokens for one answer. `pressure` shrinks what the call did not ask for in so many words."""
    asked = _read_wish(wish, default)
    if asked is None:
        tokens = int(default * pressure)
    else:
        tokens = asked
    allowed = [tokens, CEILING, max(batch, _LEAST)]
    if host is not None and host > 0:
        allowed.append(host)
    return max(_LEAST, min(allowed))


def read_budgets(pairs: Sequence[str]) -> dict[str, int]:
    """The budgets of single tools, as the setting writes them."""
    found: dict[str, int] = {}
    for pair in pairs:
        name, _, tokens = pair.partition("=")
        if not tokens.strip().isdigit():
            raise BadSetting(
                f"budgets: {pair!r} is not a budget.", "Write a tool and its tokens: `search=2000, map=800`."
            )
        found[name.strip()] = int(tokens)
    return found


def _read_wish(wish: str, default: int) -> int | None:
    word = wish.strip().lower()
    if not word:
        return None
    if word in _ALL:
        return CEILING
    if word in _WORDS:
        return int(default * _WORDS[word])
    try:
        number = int(float(word.replace("_", "").replace(",", "").removesuffix("k"))) * (
            1000 if word.endswith("k") else 1
        )
    except (ValueError, OverflowError):
        raise UsageError(
            f"`budget` is {wish[:40]!r}.", "Give tokens (a number), or compact, standard or full."
        ) from None
    if number <= 0:
        raise UsageError(f"`budget` is {wish!r}.", "Give a number of tokens above 0.")
    return number
