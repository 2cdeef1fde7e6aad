"""Media in Anthropic's requests: `{"media_type": "image/png", "data": "..."}`."""

from __future__ import annotations

from typing import Final

from laconic.wire.media_shape import MediaShape

_SIDE: Final = 1568  # pixels: what is larger is made smaller
_PIXELS: Final = 750  # a token


def _count_image_tokens(width: int, height: int) -> int:
    shrink = min(1.0, _SIDE / max(width, height, 1))
    return round(width * shrink) * round(height * shrink) // _PIXELS


MEDIA: Final = MediaShape(
    marks=(b'"media_type"',),
    types=("media_type",),
    image_tokens=_count_image_tokens,
    page_tokens=2_600,
)
