"""Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.declared_types import read_result_after_arrow, read_type_after_colon, split_outside, take_whole
from laconic.index.dialect import LanguageDialect, split_words
from laconic.index.language import Language
from laconic.index.name_meaning import FOREIGN, UNKNOWN, Meaning, module
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from laconic.index.resolve.code import Code, SourceFile

_DEFINITIONS: Final = """
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name superclasses: (argument_list [(identifier) (attribute) (subscript) (call)] @base)) @class
(class_definition name: (identifier) @name !superclasses) @class
(class_definition name: (identifier) @name superclasses: (argument_list)) @class
(module (expression_statement (assignment left: (identifier) @name) @variable))
(module (if_statement (block (expression_statement (assignment left: (identifier) @name) @variable))))
(module (try_statement (block (expression_statement (assignment left: (identifier) @name) @variable))))
(module (_ [(else_clause (block (expression_statement (assignment left: (identifier) @name) @variable)))
  (except_clause (block (expression_statement (assignment left: (identifier) @name) @variable)))]))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @variable))
(module (expression_statement (assignment left: (identifier) @_all right: (_) @exports)) (#eq? @_all "__all__"))
(module (expression_statement (augmented_assignment left: (identifier) @_all right: (_) @exports)) (#eq? @_all "__all__"))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @variable)))
(class_definition body: (block (if_statement (block (expression_statement (assignment left: (identifier) @name) @variable)))))
(function_definition body: (_ (expression_statement (assignment left: (attribute object: (identifier) @_self attribute: (identifier) @name)) @field)) (#eq? @_self "self"))
(function_definition body: (block (_ (block (expression_statement (assignment left: (attribute object: (identifier) @_self attribute: (identifier) @name)) @field)))) (#eq? @_self "self"))
(type_alias_statement left: (type (identifier) @name)) @type
(import_statement) @import
(import_from_statement) @import
"""

_REFERENCES: Final = """
(identifier) @id
((type (string (string_content) @id)) (#match? @id "^[A-Za-z_][A-Za-z_0-9]*$"))
(parameters [(identifier) @local
  (default_parameter name: (identifier) @local)
  (typed_parameter [(identifier) @local (list_splat_pattern (identifier) @local) (dictionary_splat_pattern (identifier) @local)])
  (typed_default_parameter name: (identifier) @local)
  (list_splat_pattern (identifier) @local)
  (dictionary_splat_pattern (identifier) @local)])
(lambda_parameters [(identifier) @local (default_parameter name: (identifier) @local)
  (list_splat_pattern (identifier) @local) (dictionary_splat_pattern (identifier) @local)])
(assignment left: (identifier) @local)
(assignment left: (pattern_list [(identifier) @local (list_splat_pattern (identifier) @local)]))
(assignment left: (tuple_pattern (identifier) @local))
(for_statement left: (identifier) @local)
(for_statement left: (pattern_list (identifier) @local))
(for_statement left: (tuple_pattern (identifier) @local))
(for_in_clause left: (identifier) @local)
(for_in_clause left: (pattern_list (identifier) @local))
(for_in_clause left: (tuple_pattern (identifier) @local))
(as_pattern alias: (as_pattern_target (identifier) @local))
(named_expression name: (identifier) @local)
(keyword_argument name: (identifier) @skip)
(global_statement (identifier) @global)
(nonlocal_statement (identifier) @global)
(type) @in.type
(class_definition superclasses: (argument_list) @in.inherit)
(decorator [(identifier) @decorator (attribute attribute: (identifier) @decorator)
  (call function: [(identifier) @decorator (attribute attribute: (identifier) @decorator)])])
(import_statement) @in.import
(import_from_statement) @in.import
(future_import_statement) @in.import
"""

_LOCALS: Final = """
(parameters (identifier) @name)
(parameters (default_parameter name: (identifier) @name value: (_) @value))
(parameters (typed_parameter . (identifier) @name type: (_) @type))
(parameters (typed_parameter . (list_splat_pattern (identifier) @name)))
(parameters (typed_parameter . (dictionary_splat_pattern (identifier) @name)))
(parameters (typed_default_parameter name: (identifier) @name type: (_) @type))
(parameters (list_splat_pattern (identifier) @name))
(parameters (dictionary_splat_pattern (identifier) @name))
(lambda_parameters (identifier) @name)
(assignment left: (identifier) @name type: (_) @type)
(assignment left: (identifier) @name !type right: (_) @value)
(assignment left: (pattern_list (identifier) @name) right: (_) @values)
(assignment left: (tuple_pattern (identifier) @name) right: (_) @values)
(named_expression name: (identifier) @name value: (_) @value)
(with_item value: (as_pattern (_) @value alias: (as_pattern_target (identifier) @name)))
(except_clause value: (as_pattern (_) @type alias: (as_pattern_target (identifier) @name)))
(for_statement left: (identifier) @name right: (_) @each)
(for_statement left: (pattern_list (identifier) @name))
(for_statement left: (tuple_pattern (identifier) @name))
(for_in_clause left: (identifier) @name right: (_) @each)
(for_in_clause left: (pattern_list (identifier) @name))
(for_in_clause left: (tuple_pattern (identifier) @name))
(if_statement condition: (call function: (identifier) @_test arguments: (argument_list . (identifier) @name . [(identifier) (attribute)] @type .))
  consequence: (block) @scope (#eq? @_test "isinstance"))
"""

_DECORATED: Final = {
    "staticmethod": "static",
    "classmethod": "classmethod",
    "property": "property",
    "cached_property": "property",
    "abstractmethod": "abstract",
    "override": "override",
    "overload": "overload",
    "final": "final",
    "dataclass": "dataclass",
}


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    origin = node.child_by_field_name("module_name")
    module = _text(origin) if origin is not None else ""
    public = source.path.endswith("__init__.py")
    for child in node.children_by_field_name("name"):
        original, alias = child, ""
        if child.type == "aliased_import":
            inner, renamed = child.child_by_field_name("name"), child.child_by_field_name("alias")
            original, alias = inner or child, _text(renamed) if renamed is not None else ""
        name, line = _text(original), child.start_point[0] + 1
        if origin is None:
            yield Import(name, line, alias=alias, exported=public)
        else:
            yield Import(module=module, line=line, name=name, alias=alias, exported=public or alias == name)
    if origin is not None and any(child.type == "wildcard_import" for child in node.children):
        yield Import(module, node.start_point[0] + 1, "*", exported=public)


def _text(node: Node) -> str:
    return "".join((node.text or b"").decode("utf-8", "replace").split())


def _documentation(node: Node) -> Node | None:
    body = node.child_by_field_name("body")
    if body is not None and body.named_child_count:
        first = body.named_child(0)
    else:
        first = None
    if first is None or first.type != "expression_statement":
        return None
    inner = first.named_child(0)
    if inner is not None and inner.type in {"string", "concatenated_string"}:
        return inner
    return None


def _refine(each: DefinitionDraft, source: Source) -> None:
    name = each.name
    if name.startswith("_") and not (name.startswith("__") and name.endswith("__")):
        each.visibility = "private"
    for decorator in each.decorators:
        word = decorator.rsplit(".", 1)[-1]
        if word in _DECORATED:
            each.modifiers.append(_DECORATED[word])
        elif word in {"setter", "deleter"}:
            each.modifiers.append(word)
    if each.kind == "variable" and name.isupper():
        each.kind = "constant"
    each.bases = [base.split("[", 1)[0] for base in each.bases]
    if each.kind in {"function", "method"}:
        each.test = name.startswith("test")
    elif each.kind == "class":
        each.test = name.startswith("Test") or any(base.endswith("TestCase") for base in each.bases)


_ROOTS: Final = frozenset({"", "src", "lib", "python"})
_UNPUBLISHED: Final = split_words(
    "setup conftest noxfile tasks fabfile manage tests test docs doc examples example benchmarks benchmark scripts tools"
)


def _locate(code: Code, source: SourceFile, name: str) -> Meaning:
    """The module of an import statement, relative or absolute."""
    bare = name.lstrip(".")
    if bare != name:
        folder = source.folder
        for _ in range(len(name) - len(bare) - 1):
            folder = folder.rpartition("/")[0]
        if bare:
            return _at(code, "/".join(filter(None, [folder, *bare.split(".")])))
        return _at(code, folder)
    parts = bare.split(".")
    return _absolute(code, source, parts)


def _find_part(code: Code, whole: Meaning, name: str) -> Meaning:
    """A submodule."""
    if whole.folder:
        return _at(code, f"{whole.folder}/{name}")
    return UNKNOWN


def _at(code: Code, place: str) -> Meaning:
    """The module whose files lie at a path without its suffix."""
    for suffix in (".py", "/__init__.py", ".pyi", "/__init__.pyi"):
        if found := code.by_path.get(place + suffix):
            stub = code.by_path.get(place + suffix + "i")
            files = [found.id, *([stub.id] if stub else [])]
            return module(files, place if "/__init__" in suffix else "")
    if _has_python(code, place):
        return Meaning("module", folder=place, language="python")
    return UNKNOWN


def _absolute(code: Code, source: SourceFile, parts: list[str]) -> Meaning:
    tail = "/".join(parts)
    found: list[tuple[int, int, str]] = []
    for base in _bases(code, parts):
        if not _is_root(code, source, base, len(parts)):
            continue
        if not base or source.path.startswith(f"{base}/"):
            found.append((0, -len(base), base))
        else:
            found.append((1, len(base), base))
    for _, _, base in sorted(found):
        if meant := _at(code, f"{base}/{tail}" if base else tail):
            return meant
    # A package of ours may have parts that we do not see.
    if _ours(code, source, parts[0]):
        return UNKNOWN
    return FOREIGN


def _bases(code: Code, parts: list[str]) -> set[str]:
    """The folders below which the module might lie."""
    last, above = parts[-1], parts[:-1]
    bases: set[str] = set()
    for name in (f"{last}.py", f"{last}.pyi"):
        bases.update(_without(each.folder, above) for each in code.by_basename.get(name, ()))
    bases.update(_without(folder, parts) for folder in _packages(code).get(last, ()))
    bases.add("")
    bases.discard("\0")
    return bases


def _packages(code: Code) -> dict[str, list[str]]:
    """Folders that are packages, by their last word."""
    kept = code.derived.get("package folders")
    if isinstance(kept, dict):
        return kept
    found: dict[str, list[str]] = {}
    for name in ("__init__.py", "__init__.pyi"):
        for each in code.by_basename.get(name, ()):
            found.setdefault(each.folder.rpartition("/")[2], []).append(each.folder)
    code.derived["package folders"] = found
    return found


def _without(folder: str, tail: list[str]) -> str:
    if not tail:
        return folder
    end = "/".join(tail)
    if folder == end:
        return ""
    if folder.endswith(f"/{end}"):
        return folder[: -len(end) - 1]
    return "\0"


def _is_root(code: Code, source: SourceFile, base: str, depth: int) -> bool:
    if base == source.folder:
        return True  # a script sees its neighbours
    if base and f"{base}/__init__.py" in code.by_path:
        return False
    return (
        depth > 1
        or base in _ROOTS
        or base in code.roots
        or source.path.startswith(f"{base}/")
        or base.rpartition("/")[2] in _ROOTS
    )


def _ours(code: Code, source: SourceFile, name: str) -> bool:
    """Whether the first word of a module is a package of the repository, or a neighbour."""
    kept = code.derived.get("python packages")
    known: set[str] = kept if isinstance(kept, set) else set()
    if not known:
        for each in code.by_basename.get("__init__.py", ()):
            above, _, last = each.folder.rpartition("/")
            if f"{above}/__init__.py".lstrip("/") not in code.by_path:
                known.add(last)
        code.derived["python packages"] = known
    return name in known or f"{source.folder}/{name}.py".lstrip("/") in code.by_path


def _publish(code: Code) -> Iterator[str]:
    """Packages and modules that lie where an installer takes them from."""
    for each in (*code.by_basename.get("__init__.py", ()), *code.by_basename.get("__init__.pyi", ())):
        above, _, last = each.folder.rpartition("/")
        if above in _ROOTS and last and last not in _UNPUBLISHED:
            yield last
    for root in _ROOTS:
        for each in code.by_folder.get(root, ()):
            name, dot, end = each.path.rpartition("/")[2].rpartition(".")
            if dot and end == "py" and not name.startswith(("_", "test")) and name not in _UNPUBLISHED:
                yield name


def _has_python(code: Code, folder: str) -> bool:
    key = ("python folders",)
    kept = code.derived.get(key)
    known: set[str] = kept if isinstance(kept, set) else set()
    if not known:
        for each in code.sources.values():
            above = each.folder if each.language == "python" else ""
            while above and above not in known:
                known.add(above)
                above = above.rpartition("/")[0]
        code.derived[key] = known
    return folder in known


_BUILT_IN_TYPES: Final = split_words(
    "str int float bool bytes bytearray list dict set frozenset tuple complex range slice memoryview object type "
    "List Dict Set FrozenSet Tuple Mapping Sequence Iterable Iterator Callable Generator AsyncIterator Exception "
    "ValueError TypeError KeyError "
)

_RETURN: Final = re.compile(r"^\s*return\s+(.+)")


def _read_returned(lines: list[str]) -> list[tuple[int, str]]:
    """What a function returns; nothing where that may be a generator or nothing at all."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if re.match(r"\s*(?:yield\b|.*=\s*yield\b)", line):
            return []
        if (match := _RETURN.match(line)) and match[1].strip() != "None":
            if match[1].rstrip().endswith("("):
                rest = lines[number + 1 : number + 8]
            else:
                rest = []
            found.append((number, "\n".join([match[1], *rest])))
    return found


_TUPLE: Final = re.compile(r"(?:\w+\.)?[tT]uple\[(.+)\]", re.DOTALL)


def _split_results(written: str) -> list[str]:
    """`tuple[A, B]` gives two values, which most callers take apart."""
    match = _TUPLE.fullmatch(written.strip())
    if match is None:
        return take_whole(written)
    parts = [each.strip() for each in split_outside(match[1], ",")]
    if "..." in parts:
        return [written]
    return parts


_DIALECT: Final = LanguageDialect(
    family="python",
    dynamic=True,
    field_value=re.compile(r"\s*(?:self|cls)\.(\w+)\s*=(?!=)\s*(.+?)\s*(?:#.*)?$"),
    me=frozenset({"self", "cls"}),
    above=frozenset({"super()"}),
    home="file",
    closed_types=True,
    structural=True,
    open_modules=True,
    binds_head=True,
    lists=re.compile(r"[\[{]"),
    fixtures="conftest.py",
    builtin=_BUILT_IN_TYPES,
    locate=_locate,
    publish=_publish,
    find_part=_find_part,
    bind=lambda module_path: module_path.partition(".")[0],
    read_result=read_result_after_arrow,
    read_returned=_read_returned,
    split_results=_split_results,
    read_type=read_type_after_colon,
)

LANGUAGE: Final = Language(
    name="python",
    extensions=(".py", ".pyi", ".pyw"),
    filenames=("SConstruct", "SConscript", "wscript"),
    shebangs=("python", "pypy"),
    telling_endings=("__init__.py",),
    grammar="tree_sitter_python",
    definitions=_DEFINITIONS,
    references=_REFERENCES,
    locals=_LOCALS,
    scopes=frozenset(
        {
            "function_definition",
            "lambda",
            "list_comprehension",
            "set_comprehension",
            "dictionary_comprehension",
            "generator_expression",
        }
    ),
    blocks=frozenset({"block", "function_definition", "lambda"}),
    imports=_imports,
    refine=_refine,
    documentation=_documentation,
    comments=("#",),
    wrappers=frozenset({"decorated_definition"}),
    modifiers=frozenset({"async"}),
    ignored=frozenset({"self", "cls"}),
    aliases=("py",),
    dialect=_DIALECT,
)
