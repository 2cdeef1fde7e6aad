"""JSON that may be of any shape, read as a list or an object: what is neither is empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def as_list(value: object) -> list[Any]:
    """The list that a value is; else an empty one."""
    if isinstance(value, list):
        return value
    return []


def as_object(value: object) -> dict[str, Any]:
    """The object that a value is; else an empty one."""
    if isinstance(value, dict):
        return value
    if isinstance(value, Mapping):
        return dict(value)
    return {}


def objects_in(value: object) -> list[dict[str, Any]]:
    """The objects of a list, without what else is in it."""
    found = []
    for each in as_list(value):
        if isinstance(each, dict):
            found.append(each)
    return found


def first_object(value: object) -> dict[str, Any]:
    """The first element of a list, if it is an object; else an empty one."""
    found = as_list(value)
    if found:
        return as_object(found[0])
    return {}
