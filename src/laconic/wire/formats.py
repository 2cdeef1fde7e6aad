"""The formats that we know, by name: one folder each in `providers/`."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Final

from laconic.errors import UnknownName
from laconic.wire import providers
from laconic.wire.messages import ProviderDialect
from laconic.wire.provider_format import ProviderFormat


def _find_formats() -> dict[str, ProviderFormat]:
    found: dict[str, ProviderFormat] = {}
    for module in pkgutil.iter_modules(providers.__path__):
        format: ProviderFormat = import_module(f"{providers.__name__}.{module.name}").FORMAT
        found[format.name] = format
    return found


FORMATS: Final = _find_formats()


def format_named(name: str) -> ProviderFormat:
    """The format of that name."""
    if name not in FORMATS:
        raise UnknownName("format", name, tuple(FORMATS))
    return FORMATS[name]


def dialect_of(format: ProviderFormat) -> ProviderDialect:
    """How our own agent speaks a format."""
    if format.dialect is None:
        spoken = tuple(name for name, known in FORMATS.items() if known.dialect is not None)
        raise UnknownName("format", format.name, spoken)
    return format.dialect
