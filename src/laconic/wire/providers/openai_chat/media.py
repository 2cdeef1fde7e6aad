"""Media in OpenAI's requests, in both of its formats: `data:` URLs of images and files, and sound with its format."""

from __future__ import annotations

from typing import Final

from laconic.wire.media_shape import MediaShape

_BASE: Final = 85  # tokens of every image
_TILE: Final = 170  # tokens more for each tile of 512 pixels a side


def _count_image_tokens(width: int, height: int) -> int:
    fit = min(1.0, 2048 / max(width, height, 1))
    fit *= min(1.0, 768 / max(1.0, min(width, height) * fit))
    tiles = -(-round(width * fit) // 512) * -(-round(height * fit) // 512)
    return _BASE + _TILE * tiles


MEDIA: Final = MediaShape(
    marks=(b";base64,", b'"input_audio"'),
    types=("format",),
    urls=("url", "image_url", "file_data"),
    image_tokens=_count_image_tokens,
    low_tokens=_BASE,
)
