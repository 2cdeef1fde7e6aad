"""A definition while it is being put together from the captures of one match."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


class DefinitionDraft:
    """What is known about one definition; rules of a language may change any of it before it becomes a record."""

    __slots__ = (
        "base_nodes",
        "bases",
        "body",
        "decorators",
        "end",
        "fixed_parent",
        "kind",
        "modifiers",
        "name",
        "name_row",
        "name_start",
        "node",
        "outer",
        "owner",
        "parent",
        "signature",
        "start",
        "test",
        "visibility",
    )

    def __init__(self, kind: str, node: Node, name: str, name_node: Node) -> None:
        self.kind = kind
        self.node = node
        self.outer = node  # with decorators and `export`
        self.start = node.start_byte
        self.end = node.end_byte
        self.name = name
        self.name_start = name_node.start_byte
        self.name_row = name_node.start_point[0]
        self.body: Node | None = None
        self.base_nodes: list[Node] = []
        self.bases: list[str] = []
        self.decorators: list[str] = []
        self.modifiers: list[str] = []
        self.owner = ""
        self.parent: DefinitionDraft | None = None
        self.fixed_parent = False  # it belongs to its parent without standing directly in it
        self.signature = ""
        self.test = False
        self.visibility = "public"
