"""What a model costs at an address: what the setting says, else the table, else nothing on a server of one's own."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

import msgspec

from laconic.errors import BadSetting
from laconic.local_addresses import is_local
from laconic.models.find_model import find_model
from laconic.models.model import Price

_FORM: Final = "Write PATTERN=INPUT/OUTPUT in dollars per million tokens: `qwen*=0/0, mymodel=1.2/6`."


class Prices:
    """Prices of models: by the setting, else by the table, else nothing on a server of one's own, else not known."""

    def __init__(self, setting: str = "") -> None:
        self._own = [_own(pair) for pair in filter(None, (pair.strip() for pair in setting.split(",")))]

    def of(self, model: str, base: str = "") -> Price:
        """The price of a model at an address."""
        listed = find_model(model).price
        names = (model.lower(), model.lower().rsplit("/", 1)[-1])
        for pattern, figures in self._own:
            if any(fnmatchcase(name, pattern) for name in names):
                return _priced(listed, figures)
        if is_local(base) and (listed.weights or not listed.known):
            return msgspec.structs.replace(listed, dollars=0.0)
        return listed


def _own(pair: str) -> tuple[str, list[float]]:
    pattern, _, said = pair.partition("=")
    try:
        figures = []
        for word in said.split("/"):
            figures.append(float(word))
    except ValueError:
        figures = []
    if not pattern.strip() or not 2 <= len(figures) <= 5 or any(not 0 <= figure < 1e6 for figure in figures):
        raise BadSetting(f"prices: {pair!r} is not a price.", _FORM)
    if not figures[0] and any(figures):
        raise BadSetting(f"prices: {pair!r} is not a price: if input is free, everything must be.", _FORM)
    return pattern.strip().lower(), figures


def _priced(listed: Price, figures: list[float]) -> Price:
    """A price of the user's: input/output, and where they are named cache read, cache write and hour's write."""
    input, output, *cache = figures
    if not input:
        return msgspec.structs.replace(listed, dollars=0.0, above=0)
    ratios = []
    for figure in cache:
        ratios.append(figure / input)
    if listed.known:
        known = [listed.read, listed.write, listed.hour]
    else:
        known = [1.0, 1.0, 1.0]
    read, write, hour = [*ratios, *known[len(ratios) :]]
    return msgspec.structs.replace(
        listed, dollars=input, output=output / input, read=read, write=write, hour=max(write, hour), above=0
    )
