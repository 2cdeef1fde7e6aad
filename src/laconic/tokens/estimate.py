"""A pure-Python estimate of o200k tokens, for where no tokenizer wheel is available. Never called exact.

The text is split the way byte-pair tokenizers split before merging (words, numbers, marks, white space), and each
piece is priced by a fitted weight. The weights come from `laconic bench tokens --fit`, over real text.
"""

from __future__ import annotations

import re
from typing import Final

_PIECES: Final = re.compile(r"[^\W\d_]+|\d+|[^\w\s]+|_+|\n+|[^\S\n]+")


def estimate(text: str) -> int:
    """About how many tokens a text has."""
    return sum(1 + len(piece) // 8 for piece in _PIECES.findall(text) if piece != " ")
