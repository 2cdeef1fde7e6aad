"""Media in Gemini's requests: `{"inlineData": {"mimeType": "audio/mp3", "data": "..."}}`, in either spelling."""

from __future__ import annotations

from typing import Final

from laconic.wire.media_shape import MediaShape

MEDIA: Final = MediaShape(
    marks=(b'"inlineData"', b'"inline_data"'),
    types=("mimeType", "mime_type"),
    second_tokens={"audio": 32, "video": 263},
)
