"""The messages of SCIP that we read and write: a part of its schema, whose other fields are passed over."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

DEFINITION: Final = 1  # roles of an occurrence
IMPORT: Final = 2
WRITE: Final = 4
READ: Final = 8
UTF8: Final = 1  # how columns are counted: in bytes, UTF-16 units, or characters
UTF16: Final = 2
UTF32: Final = 3
_STRING, _INT32, _MESSAGE, _BOOL = 9, 5, 11, 8  # types of fields in a descriptor
_REPEATED: Final = frozenset(
    {"documents", "occurrences", "symbols", "relationships", "range", "documentation", "arguments", "enclosing_range"}
)
# Message, then its fields: name, number, type.
_SCHEMA: Final[dict[str, tuple[tuple[str, int, int | str], ...]]] = {
    "ToolInfo": (("name", 1, _STRING), ("version", 2, _STRING), ("arguments", 3, _STRING)),
    "Metadata": (
        ("version", 1, _INT32),
        ("tool_info", 2, "ToolInfo"),
        ("project_root", 3, _STRING),
        ("text_document_encoding", 4, _INT32),
    ),
    "Relationship": (("symbol", 1, _STRING), ("is_reference", 2, _BOOL), ("is_implementation", 3, _BOOL)),
    "SymbolInformation": (
        ("symbol", 1, _STRING),
        ("documentation", 3, _STRING),
        ("relationships", 4, "Relationship"),
        ("kind", 5, _INT32),
        ("display_name", 6, _STRING),
    ),
    "Occurrence": (
        ("range", 1, _INT32),
        ("symbol", 2, _STRING),
        ("symbol_roles", 3, _INT32),
        ("enclosing_range", 7, _INT32),
    ),
    "Document": (
        ("relative_path", 1, _STRING),
        ("occurrences", 2, "Occurrence"),
        ("symbols", 3, "SymbolInformation"),
        ("language", 4, _STRING),
        ("position_encoding", 6, _INT32),
    ),
    "Index": (("metadata", 1, "Metadata"), ("documents", 2, "Document")),
}


def new(name: str) -> Any:
    """An empty message."""
    return _classes()[name]()


def parse(name: str, data: bytes) -> Any:
    """A message from its bytes; nothing when they are no such message."""
    from google.protobuf.message import DecodeError  # loaded with the first index of others

    try:
        return _classes()[name].FromString(data)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None


@cache
def _classes() -> dict[str, Any]:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="laconic/scip.proto", package="scip", syntax="proto3")
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            each = message.field.add(name=field, number=number)
            each.label = each.LABEL_REPEATED if field in _REPEATED else each.LABEL_OPTIONAL
            if isinstance(kind, str):
                each.type, each.type_name = each.TYPE_MESSAGE, f".scip.{kind}"
            else:
                each.type = descriptor_pb2.FieldDescriptorProto.Type.ValueType(kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"scip.{name}")) for name in _SCHEMA}
