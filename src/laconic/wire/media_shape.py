"""How one provider's requests hold media, and what it counts for them: a record, which the provider's file fills in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaShape:
    """Where the bytes are, what says their type, and the tokens that they take."""

    marks: tuple[bytes, ...]  # one of these is in every block that holds bytes
    types: tuple[str, ...] = ()  # fields beside `data` that say what it is
    urls: tuple[str, ...] = ()  # fields that may hold a `data:` URL
    image_tokens: Callable[[int, int], int] | None = None  # width and height -> tokens
    low_tokens: int = 0  # of an image for which the client asks little detail
    page_tokens: int = 0  # of a document, text and picture
    second_tokens: Mapping[str, int] = field(default_factory=dict)  # of audio and video
