"""A page's figures as the JSON interface gives them, with the place of each: pages are written from these only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

Value = Any  # JSON


class JsonNode:
    """A value inside a JSON document, and the pointer to it; the document itself also knows its address."""

    __slots__ = ("address", "path", "value")

    def __init__(self, value: Value, path: str = "", address: str = "") -> None:
        self.value = value
        self.path = path
        self.address = address

    def __getitem__(self, key: str | int) -> JsonNode:
        return JsonNode(self.value[key], f"{self.path}/{key}")

    def __iter__(self) -> Iterator[JsonNode]:
        return (self[at] for at in range(len(self.value)))

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    @property
    def text(self) -> str:
        return str(self.value)

    @property
    def number(self) -> float:
        return float(self.value or 0)


def document(view: msgspec.Struct, address: str = "") -> JsonNode:
    """The figures of a page, and where their JSON is."""
    return JsonNode(msgspec.to_builtins(view), address=address)
