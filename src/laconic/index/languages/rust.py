"""Rust."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.declared_types import read_result_after_arrow, read_type_after_colon
from laconic.index.dialect import LanguageDialect, split_words
from laconic.index.language import Language
from laconic.index.name_meaning import FOREIGN, UNKNOWN, Meaning, module, of
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.index.schema import file_of
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from laconic.index.resolve.code import Code, SourceFile

_DEFINITIONS: Final = """
[(function_item name: (identifier) @name) (function_signature_item name: (identifier) @name)] @function
(struct_item name: (type_identifier) @name) @struct
(union_item name: (type_identifier) @name) @union
(enum_item name: (type_identifier) @name) @enum
(enum_variant name: (identifier) @name) @constant
(field_declaration name: (field_identifier) @name) @field
(trait_item name: (type_identifier) @name) @trait
(trait_item name: (type_identifier) @name bounds: (trait_bounds (_) @base)) @trait
(impl_item type: (_) @name) @impl
(impl_item trait: (_) @base type: (_) @name) @impl
(mod_item name: (identifier) @name) @module
(type_item name: (type_identifier) @name) @type
(associated_type name: (type_identifier) @name) @type
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @variable
(macro_definition name: (identifier) @name) @macro
(use_declaration) @import
(mod_item name: (identifier) !body) @import
(extern_crate_declaration) @import
"""

_REFERENCES: Final = """
[(identifier) (type_identifier) (field_identifier) (shorthand_field_identifier) (self) (super) (crate)] @id
(type_identifier) @type
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier name: (identifier) @call))
(struct_expression name: (type_identifier) @call)
(struct_expression name: (scoped_type_identifier name: (type_identifier) @call))
(generic_function function: (identifier) @call)
(generic_function function: (scoped_identifier name: (identifier) @call))
(generic_function function: (field_expression field: (field_identifier) @call))
(field_initializer field: (field_identifier) @write)
(attribute_item (attribute (identifier) @decorator))
(parameter pattern: (identifier) @local)
(parameter pattern: (mut_pattern (identifier) @local))
(let_declaration pattern: (identifier) @local)
(let_declaration pattern: (mut_pattern (identifier) @local))
(for_expression pattern: (identifier) @local)
(closure_parameters (identifier) @local)
(closure_parameters (parameter pattern: (identifier) @local))
(tuple_pattern (identifier) @local)
(tuple_struct_pattern type: (_) (identifier) @local)
(ref_pattern (identifier) @local)
(mut_pattern (identifier) @local)
(field_pattern name: (shorthand_field_identifier) @local)
(captured_pattern . (identifier) @local)
(type_parameter name: (type_identifier) @local)
(impl_item trait: (_) @in.inherit)
(trait_item bounds: (_) @in.inherit)
(lifetime (identifier) @skip)
((match_pattern (identifier) @local) (#match? @local "^[a-z_]"))
(mod_item !body) @in.import
(use_declaration) @in.import
(extern_crate_declaration) @in.import
"""

_KEYED: Final = """
(struct_expression name: (_) @type body: (field_initializer_list (field_initializer field: (field_identifier) @key)))
(struct_expression name: (_) @type body: (field_initializer_list (shorthand_field_initializer (identifier) @key)))
(struct_pattern type: (_) @type (field_pattern name: [(field_identifier) (shorthand_field_identifier)] @key))
"""
_LOCALS: Final = """
(parameter pattern: (identifier) @name type: (_) @type)
(parameter pattern: (mut_pattern (identifier) @name) type: (_) @type)
(parameter pattern: (tuple_pattern (identifier) @name))
(let_declaration pattern: (identifier) @name type: (_) @type)
(let_declaration pattern: (identifier) @name !type value: (_) @value)
(let_declaration pattern: (identifier) @name !type !value)
(let_declaration pattern: (tuple_pattern (identifier) @name) value: (_) @values)
(let_declaration pattern: (tuple_struct_pattern type: (identifier) @_some . (identifier) @name .) value: (_) @value (#any-of? @_some "Some" "Ok"))
(let_declaration pattern: (struct_pattern type: (_) @type (field_pattern name: (shorthand_field_identifier) @name @key)))
(let_condition pattern: (tuple_struct_pattern type: (identifier) @_some . [(identifier) @name (ref_pattern (identifier) @name) (mut_pattern (identifier) @name)]) value: (_) @value (#any-of? @_some "Some" "Ok"))
(let_condition pattern: (tuple_struct_pattern (identifier) @_other (identifier) @name) (#not-any-of? @_other "Some" "Ok"))
(for_expression pattern: (identifier) @name value: (_) @each)
(for_expression pattern: (tuple_pattern (identifier) @name))
(closure_parameters (identifier) @name)
(closure_parameters (tuple_pattern (identifier) @name))
(call_expression function: (field_expression) @callee arguments: (arguments (closure_expression parameters: (closure_parameters . [(identifier) @name (reference_pattern (identifier) @name)] .))))
(match_expression value: (_) @value body: (match_block (match_arm pattern: (match_pattern (tuple_struct_pattern type: (identifier) @_some . (identifier) @name .))) ) (#any-of? @_some "Some" "Ok"))
(match_pattern (tuple_struct_pattern type: (scoped_identifier) (identifier) @name))
((match_pattern (identifier) @name) (#match? @name "^[a-z_]"))
(field_pattern name: (shorthand_field_identifier) @name)
(captured_pattern . (identifier) @name)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    line = node.start_point[0] + 1
    public = any(child.type == "visibility_modifier" for child in node.children)
    if node.type == "mod_item":  # `mod name;` brings in a file
        name = node.child_by_field_name("name")
        yield Import("self", line, _text(name) if name is not None else "", exported=public)
    elif node.type == "extern_crate_declaration":
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is not None:
            yield Import(_text(name), line, alias=_text(alias) if alias is not None else "", exported=public)
    elif (argument := node.child_by_field_name("argument")) is not None:
        yield from _tree(argument, "", public)


def _tree(node: Node, prefix: str, public: bool) -> Iterator[Import]:
    """A use tree as single imports; without recursion, since such a tree may be as deep as its author likes."""
    todo = [(node, prefix)]
    while todo:
        each, before = todo.pop()
        line = each.start_point[0] + 1
        if each.type == "scoped_use_list":
            path, names = each.child_by_field_name("path"), each.child_by_field_name("list")
            deeper = before
            if path is not None:
                deeper = _join(before, _text(path))
            if names is not None:
                for child in reversed(names.named_children):
                    todo.append((child, deeper))
        elif each.type == "use_list":
            for child in reversed(each.named_children):
                todo.append((child, before))
        elif each.type == "use_wildcard":
            yield Import(_join(before, _text(each).removesuffix("*").removesuffix("::")), line, "*", exported=public)
        elif each.type == "use_as_clause":
            path, alias = each.child_by_field_name("path"), each.child_by_field_name("alias")
            if path is not None and alias is not None:
                module, name = _split(_join(before, _text(path)))
                yield Import(module=module, line=line, name=name, alias=_text(alias), exported=public)
        elif each.type == "self":
            module, name = _split(before)
            yield Import(module, line, name, exported=public)
        elif "comment" not in each.type:
            module, name = _split(_join(before, _text(each)))
            yield Import(module, line, name, exported=public)


def _join(before: str, path: str) -> str:
    if before and path:
        return f"{before}::{path}"
    return before or path


def _split(path: str) -> tuple[str, str]:
    module, _, name = path.rpartition("::")
    if module:
        return (module, name)
    return (name, "")


def _text(node: Node) -> str:
    return "".join((node.text or b"").decode("utf-8", "replace").split())


def _refine(each: DefinitionDraft, source: Source) -> None:
    if each.kind == "impl":
        each.name = each.name.split("<", 1)[0].strip().lstrip("&").rsplit("::", 1)[-1]
        each.name_start = -1  # the name there is a reference
    if each.kind == "module" and each.node.child_by_field_name("body") is None:
        each.kind = ""  # `mod name;` is an import
        return
    each.bases = [base.split("<", 1)[0].strip() for base in each.bases]
    head = ""
    if each.name_start >= 0:
        head = source.text(each.start, each.name_start)
    if "pub" in each.modifiers:
        each.modifiers.remove("pub")
        if "pub(" in head:
            each.visibility = "internal"
        else:
            each.visibility = "public"
    elif not _open(each):
        each.visibility = "private"
    above = source.comment_above(each.outer.start_point[0], ("#[", "///", "//"))
    attributes = b" ".join(line.strip() for line in source.lines[above : each.outer.start_point[0]])
    if each.kind in {"function", "method"}:
        each.test = any(mark in attributes for mark in (b"#[test]", b"::test]", b"::test(", b"#[rstest"))
    elif each.kind == "module":
        each.test = b"#[cfg(test)]" in attributes
    elif each.kind == "macro":
        each.visibility = "public" if b"#[macro_export]" in attributes else "internal"


def _open(each: DefinitionDraft) -> bool:
    """Whether something without `pub` is as visible as what it stands in."""
    around = each.parent
    if each.kind in {"impl"} or each.node.type == "enum_variant":
        return True
    if around is not None and around.node.type == "enum_variant":
        return True
    return around is not None and (around.kind == "trait" or (around.kind == "impl" and bool(around.bases)))


_NAME: Final = re.compile(r"^\s*name\s*=\s*\"([^\"]+)\"", re.MULTILINE)
_ROOT_FILES: Final = frozenset({"lib.rs", "main.rs", "mod.rs"})


def _locate(code: Code, source: SourceFile, name: str) -> Meaning:
    """The module, or the type, that a path leads to."""
    parts = list(filter(None, re.split(r"::|\.", name)))
    if not parts:
        return _of_file(code, source)
    head, rest = parts[0], parts[1:]
    if head == "crate":
        start = _crate_root(code, source.folder)
    elif head == "self":
        start = _of_file(code, source)
    elif head == "super":
        start = _above(code, source)
        while rest and rest[0] == "super" and start.files:
            start, rest = _above(code, code.sources[start.files[0]]), rest[1:]
    else:
        start = _find_part(code, _of_file(code, source), head) or _step(code, _of_file(code, source), head)
        if not start:
            folder = _crates(code).get(head)
            if folder is not None:
                start = _crate_root(code, folder)
            else:
                start = FOREIGN
    for step in rest:
        if start.kind == "foreign":
            break
        start = _step(code, start, step)
    return start


def _find_part(code: Code, whole: Meaning, name: str) -> Meaning:
    """A module file below a module, or a module written inside the file."""
    if whole.folder:
        for path in (f"{whole.folder}/{name}.rs", f"{whole.folder}/{name}/mod.rs"):
            if found := code.by_path.get(path):
                return _of_file(code, found)
    inner = []
    for file in whole.files:
        for symbol in code.top(file, name):
            if symbol.kind == "module":
                inner.append(symbol.id)
    return of(inner)


def _step(code: Code, start: Meaning, name: str) -> Meaning:
    if start.kind == "module":
        if found := _find_part(code, start, name):
            return found
        types = []
        for file in start.files:
            for symbol in code.top(file, name):
                types.append(symbol.id)
        return of(types)
    inner = []
    for number in start.symbols:
        for symbol in code.outline(file_of(number)).find_named(number, name):
            inner.append(symbol.id)
    if inner:
        return of(inner)
    return UNKNOWN


def _of_file(code: Code, source: SourceFile) -> Meaning:
    base = source.path.rpartition("/")[2]
    if base in _ROOT_FILES:
        folder = source.folder
    else:
        folder = source.path.removesuffix(".rs")
    return module([source.id], folder)


def _above(code: Code, source: SourceFile) -> Meaning:
    base = source.path.rpartition("/")[2]
    if base == "mod.rs":
        folder = source.folder.rpartition("/")[0]
    else:
        folder = source.folder
    for path in (f"{folder}/mod.rs", f"{folder}.rs", f"{folder}/lib.rs", f"{folder}/main.rs"):
        if found := code.by_path.get(path):
            return _of_file(code, found)
    return UNKNOWN


def _crate_root(code: Code, folder: str) -> Meaning:
    """The root file of the crate that a folder belongs to."""
    while True:
        for base in (folder, f"{folder}/src".lstrip("/")):
            files = []
            for name in ("lib.rs", "main.rs"):
                path = f"{base}/{name}".lstrip("/")
                if path in code.by_path:
                    files.append(code.by_path[path])
            if files:
                return module([each.id for each in files], base)
        if not folder:
            return UNKNOWN
        folder = folder.rpartition("/")[0]


def _find_crate(code: Code, source: SourceFile) -> str:
    """The folder of the crate that a file belongs to."""
    key = ("crate of", source.folder)
    kept = code.derived.get(key)
    if isinstance(kept, str):
        return kept
    folder = source.folder
    while folder and f"{folder}/Cargo.toml" not in code.by_path:
        folder = folder.rpartition("/")[0]
    code.derived[key] = folder
    return folder


def _depends(code: Code, source: SourceFile, other: SourceFile) -> bool:
    """Whether the crate of one file is that of another, or names it among what it needs."""
    own, wanted = _find_crate(code, source), _find_crate(code, other)
    if own == wanted:
        return True
    key = ("depends", own, wanted)
    kept = code.derived.get(key)
    if isinstance(kept, bool):
        return kept
    manifest = code.text(f"{own}/Cargo.toml".lstrip("/"))
    named = _NAME.search(code.text(f"{wanted}/Cargo.toml".lstrip("/")))
    found = named is None or named[1] in manifest
    code.derived[key] = found
    return found


def _crates(code: Code) -> dict[str, str]:
    """Folders of the crates of the workspace by the name that programs use."""
    found = code.derived.get("crates")
    if isinstance(found, dict):
        return found
    names: dict[str, str] = {}
    for each in code.by_basename.get("Cargo.toml", ()):
        text = code.text(each.path)
        for section in ("[package]", "[lib]"):
            at = text.find(section)
            if at >= 0 and (match := _NAME.search(text, at)):
                names.setdefault(match[1].replace("-", "_"), each.folder)
    code.derived["crates"] = names
    return names


def _make_absolute(code: Code, source: SourceFile, each: Import) -> str:
    """The module of an import; inside `mod x { }`, `super` leads to the file first."""
    if not each.module.startswith("super"):
        return each.module
    depth = sum(s.kind == "module" and s.start < each.line <= s.end for s in code.outline(source.id).symbols)
    parts = each.module.split("::")
    while depth and parts and parts[0] == "super":
        parts, depth = parts[1:], depth - 1
    return "::".join(parts if parts[:1] == ["super"] else ["self", *parts])


_BUILT_IN_TYPES: Final = split_words(
    "str String bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 Vec HashMap HashSet "
    "BTreeMap BTreeSet VecDeque Duration Instant PathBuf Path OsString OsStr std core alloc "
)

_DIALECT: Final = LanguageDialect(
    family="rust",
    me=frozenset({"self", "Self"}),
    above=frozenset(),
    find_home=_find_crate,
    can_use=_depends,
    reach={"private": "below", "internal": "home"},
    open_types=True,
    dispatch="down",
    two_spaces=True,
    open_modules=True,
    implicit_modules=True,
    modules_by_file=True,
    lists=re.compile(r"vec!|&?\[|(?:format|concat|stringify|matches)!"),
    passing=split_words(
        "as_ref as_mut as_deref as_deref_mut unwrap expect unwrap_or unwrap_or_else unwrap_or_default clone borrow "
        "borrow_mut to_owned lock read write take replace ok ok_or ok_or_else map_err copied cloned into_inner get_mut "
        "by_ref into as_slice deref deref_mut or_else and_then"
    ),
    builtin=_BUILT_IN_TYPES,
    locate=_locate,
    publish=_crates,
    find_part=_find_part,
    make_absolute=_make_absolute,
    read_result=read_result_after_arrow,
    read_type=read_type_after_colon,
)

LANGUAGE: Final = Language(
    name="rust",
    extensions=(".rs",),
    grammar="tree_sitter_rust",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    keyed=_KEYED,
    locals=_LOCALS,
    scopes=frozenset(
        {
            "block",
            "function_item",
            "closure_expression",
            "if_expression",
            "while_expression",
            "for_expression",
            "match_arm",
        }
    ),
    blocks=frozenset(
        {"block", "function_item", "closure_expression", "if_expression", "for_expression", "match_arm"}
    ),
    imports=_imports,
    refine=_refine,
    comments=("//", "/*", "*", "#["),
    modifiers=frozenset({"pub", "async", "unsafe", "const", "extern", "mut", "default"}),
    ignored=frozenset({"self", "super", "crate", "Self", "Some", "None", "Ok", "Err", "_"}),
    aliases=("rs",),
    tail_returns=True,
    dialect=_DIALECT,
)
