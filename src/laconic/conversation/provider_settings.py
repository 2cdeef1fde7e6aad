"""Settings that hold a number for each provider: `4, gemini=8`."""

from __future__ import annotations

from functools import lru_cache

from laconic.errors import BadSetting


@lru_cache(maxsize=256)
def for_provider(setting: str, *providers: str) -> int | None:
    """The number for the first of these providers that a setting names, else the one without a name; None: neither."""
    found = read_numbers("", setting)
    for provider in providers:
        if provider and provider in found:
            return found[provider]
    return found.get("")


def read_numbers(name: str, setting: str) -> dict[str, int]:
    """Numbers by provider; the one for all others has no name."""
    found: dict[str, int] = {}
    for part in setting.split(","):
        if not part.strip():
            continue
        provider, _, number = part.rpartition("=")
        if not number.strip().isdecimal():
            raise BadSetting(
                f"{name} is {setting!r}.", "Write a number, or several by provider: `4, gemini=8, ollama=6`."
            )
        found[provider.strip()] = int(number)
    return found
