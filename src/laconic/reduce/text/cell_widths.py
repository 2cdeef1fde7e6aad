"""How many characters of single values are written: few where nobody said how much room there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class CellWidths:
    """The longest form of a value by where it is written, in characters."""

    cell: int  # of a table
    blob: int  # of a table's column of long texts
    string: int  # on a line of its own
    quoted: int  # of a patch inside JSON
    thorough: bool = False  # long texts are read below their row, and the ends of what is measured stay


NARROW: Final = CellWidths(cell=160, blob=60, string=500, quoted=1_500)
TIGHT: Final = CellWidths(cell=160, blob=60, string=500, quoted=60_000, thorough=True)
MIDDLE: Final = CellWidths(cell=400, blob=400, string=1_500, quoted=60_000, thorough=True)
WIDE: Final = CellWidths(cell=4_000, blob=4_000, string=12_000, quoted=60_000, thorough=True)
