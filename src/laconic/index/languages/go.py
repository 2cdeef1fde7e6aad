"""Go, and the module file beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.declared_types import DeclaredValue, after_parameters, split_outside
from laconic.index.dialect import LanguageDialect, split_words
from laconic.index.language import Language
from laconic.index.name_meaning import FOREIGN, Meaning, module
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source
from laconic.records import Definition, Import, ParsedFile, Span

if TYPE_CHECKING:
    from tree_sitter import Node

    from laconic.index.resolve.code import Code, SourceFile

_DEFINITIONS: Final = """
(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (field_identifier) @name) @method
(type_declaration (type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @struct)
(type_declaration (type_spec name: (type_identifier) @name type: (interface_type) @body) @interface)
(type_declaration (type_spec name: (type_identifier) @name) @type)
(type_declaration (type_alias name: (type_identifier) @name) @type)
(type_spec type: (struct_type (field_declaration_list (field_declaration (field_identifier) @name) @field)))
(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: [(type_identifier) @name (qualified_type name: (type_identifier) @name) (generic_type type: (type_identifier) @name)]) @field)))
(type_spec type: (interface_type (method_elem name: (field_identifier) @name) @method))
(source_file (const_declaration (const_spec (identifier) @name) @constant))
(source_file (var_declaration (var_spec (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec (identifier) @name) @variable)))
(package_clause (package_identifier) @package)
(import_spec) @import
"""

_REFERENCES: Final = """
[(identifier) (type_identifier) (field_identifier) (package_identifier)] @id
(type_identifier) @type
(composite_literal type: (type_identifier) @call)
(composite_literal type: (qualified_type name: (type_identifier) @call))
(keyed_element . (literal_element (identifier) @write) . (literal_element))
(call_expression function: (identifier) @call type_arguments: (_))
(field_declaration !name type: [(type_identifier) @inherit (pointer_type (type_identifier) @inherit) (qualified_type name: (type_identifier) @inherit)])
(interface_type (type_elem (type_identifier) @inherit))
(parameter_declaration (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(var_spec (identifier) @local)
(const_spec (identifier) @local)
(type_switch_statement alias: (expression_list (identifier) @local))
(receive_statement left: (expression_list (identifier) @local))
(type_parameter_declaration (identifier) @local)
(labeled_statement label: (label_name) @skip)
(field_declaration name: (field_identifier) @skip)
(import_declaration) @in.import
(package_clause) @in.import
"""

_KEYED: Final = """
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)] @type body: (literal_value (keyed_element . (literal_element (identifier) @key))))
(composite_literal type: [(slice_type element: (_) @type) (array_type element: (_) @type) (map_type value: (_) @type)]
  body: (literal_value (literal_element (literal_value (keyed_element . (literal_element (identifier) @key))))))
(composite_literal type: (map_type value: (_) @type)
  body: (literal_value (keyed_element (literal_element) (literal_element (literal_value (keyed_element . (literal_element (identifier) @key)))))))
(selector_expression operand: (call_expression function: (identifier) @_new arguments: (argument_list . [(type_identifier) (qualified_type)] @type)) field: (field_identifier) @key (#eq? @_new "new"))
(selector_expression operand: (type_assertion_expression type: (_) @type) field: (field_identifier) @key)
(selector_expression operand: (parenthesized_expression [(composite_literal type: (_) @type) (unary_expression operand: (composite_literal type: (_) @type))]) field: (field_identifier) @key)
"""
_LOCALS: Final = """
(parameter_declaration name: (identifier) @name type: (_) @type)
(variadic_parameter_declaration name: (identifier) @name type: (_) @each_type)
(short_var_declaration left: (expression_list (identifier) @name) right: (expression_list) @values)
(var_spec name: (identifier) @name type: (_) @type)
(var_spec name: (identifier) @name !type value: (expression_list . (_) @value .))
(const_spec name: (identifier) @name)
(range_clause left: (expression_list . (identifier) @name))
(range_clause left: (expression_list (_) . (identifier) @name) right: (_) @each)
(receive_statement left: (expression_list . (identifier) @name) right: (unary_expression operand: (_) @each))
(type_switch_statement alias: (expression_list (identifier) @name))
(type_switch_statement alias: (expression_list (identifier) @name) (type_case . type: (_) @type . [(statement_list) (expression_statement)]) @scope)
"""


def _imports(node: Node, source: Source) -> Iterator[Import | str]:
    path, alias = node.child_by_field_name("path"), node.child_by_field_name("name")
    if path is None:
        return
    module = (path.text or b"").decode("utf-8", "replace").strip('"`')
    name = ""
    if alias is not None:
        name = (alias.text or b"").decode()
    line = node.start_point[0] + 1
    yield Import(module, line, "*") if name == "." else Import(module, line, alias=name)


def _refine(each: DefinitionDraft, source: Source) -> None:
    if each.kind == "field" and each.node.child_by_field_name("name") is None:
        each.name_start = -1  # an embedded type: the name there is a reference
    each.owner = each.owner.lstrip("*").split("[", 1)[0].strip()
    if not each.name[:1].isupper():
        each.visibility = "internal"
    if source.path.endswith("_test.go") and each.kind == "function":
        each.test = each.name.startswith(("Test", "Benchmark", "Example", "Fuzz"))
    if each.kind in {"struct", "interface"} and each.body is not None:
        each.bases = [base for child in each.body.named_children if (base := _embedded_type(child))]


def _embedded_type(node: Node) -> str:
    """The type that a field without a name, or an element of an interface, embeds."""
    if node.type == "field_declaration" and node.child_by_field_name("name") is None:
        embedded = node.child_by_field_name("type")
    elif node.type == "type_elem" and node.named_child_count == 1:
        embedded = node.named_child(0)
    else:
        return ""
    if embedded is not None:
        return (embedded.text or b"").decode("utf-8", "replace").lstrip("*").split("[", 1)[0]
    return ""


_REQUIRE: Final = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w./-]+)\s+v\S+")


def _module_file(source: Source) -> ParsedFile:
    """`go.mod`: the module's path as the package, its requirements as imports."""
    lines = source.data.decode("utf-8", "replace").splitlines()
    definitions: list[Definition] = []
    imports: list[Import] = []
    package = ""
    for number, line in enumerate(lines, 1):
        if line.startswith("module "):
            package = line.split()[1].strip('"')
            definitions.append(
                Definition(
                    name=package, kind="module", span=Span(number, number), line=number, signature=line.strip()
                )
            )
        elif match := _REQUIRE.match(line):
            imports.append(Import(match[1], number))
    return ParsedFile(
        language="gomod", lines=len(lines), definitions=tuple(definitions), imports=tuple(imports), package=package
    )


_BUILT_IN: Final = frozenset(
    [
        "_",
        "error",
        "string",
        "int",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "uintptr",
        "float32",
        "float64",
        "complex128",
        "bool",
        "byte",
        "rune",
        "any",
        "len",
        "cap",
        "append",
        "make",
        "new",
        "panic",
        "nil",
        "true",
        "false",
    ]
)

_MODULE: Final = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


def _locate(code: Code, source: SourceFile, name: str) -> Meaning:
    """The package of an import path."""
    for prefix, folder in _modules(code):
        if name == prefix or name.startswith(f"{prefix}/"):
            inner = name[len(prefix) + 1 :]
            place = "/".join(filter(None, [folder, inner]))
            if files := _package_files(code, place):
                return module(files, place)
    if _modules(code):
        return FOREIGN
    folder = next((each for each in code.by_folder if each and name.endswith(f"/{each}")), "")
    if folder:
        return module(_package_files(code, folder), folder)
    return FOREIGN


def _package_files(code: Code, folder: str) -> list[int]:
    """The Go files of a folder."""
    found: list[int] = []
    for each in code.by_folder.get(folder, ()):
        if each.language == "go":
            found.append(each.id)
    return found


def _modules(code: Code) -> list[tuple[str, str]]:
    """Module names with their folders, the longest first."""
    found = code.derived.get("go modules")
    if isinstance(found, list):
        return found
    pairs = []
    for each in code.by_basename.get("go.mod", ()):
        if match := _MODULE.search(code.text(each.path)):
            pairs.append((match[1], each.folder))
    pairs.sort(key=lambda pair: -len(pair[0]))
    code.derived["go modules"] = pairs
    return pairs


def _bind(module_path: str) -> str:
    """The usual name of a package: version folders and `go-` are not part of it."""
    tail = module_path.rstrip("/").rpartition("/")[2]
    if tail[:1] == "v" and tail[1:].isdigit():
        tail = module_path.split("/")[-2]
    if "." in tail:
        return tail.split(".")[0].removeprefix("go-").replace("-", "_")
    return tail.removeprefix("go-")


def _read_result(name: str, signature: str) -> str:
    """`func (r R) name() T`; several results keep their parentheses."""
    text = signature.removeprefix("func").strip()
    if text.startswith("("):
        text = after_parameters(text, "")
    return after_parameters(text, "").strip()


def _split_results(written: str) -> list[str]:
    """`(a T, err error)` has two."""
    if not written.startswith("("):
        if written:
            return [written]
        return []
    found = []
    for each in split_outside(written[1:].rstrip(" )"), ","):
        found.append(each.split())
    return [words[-1] if words else "" for words in found]


def _read_alias(name: str, signature: str) -> str:
    """`type A = T` is another name, `type A T` is a type of its own."""
    match = re.match(rf"(?:type\s+)?{re.escape(name)}\s*=\s*(.+)", signature)
    if match:
        return match[1]
    return ""


def _read_underlying(name: str, signature: str) -> str:
    """`type names []T` is a list."""
    match = re.match(rf"(?:type\s+)?{re.escape(name)}\s+((?:\[|map\[|chan\b).+)", signature)
    if match:
        return match[1]
    return ""


_MADE: Final = re.compile(r"(?:new|make)\(\s*([^(),]+)")
_APPENDED: Final = re.compile(r"append\(\s*([\w.]+)\s*[,)]")


def _read_builtin(text: str) -> DeclaredValue:
    """`new(T)` and `make(T)` give a T, `append(list, item)` a list of the same type."""
    if match := _MADE.match(text):
        return DeclaredValue("type", match[1])
    if match := _APPENDED.match(text):
        return DeclaredValue("value", match[1])
    return DeclaredValue("opaque")


_BUILD: Final = re.compile(r"//go:build\s+(.+)|// \+build\s+(.+)")
_BUILT_TAGS: Final = re.compile(r"linux|unix|amd64|cgo|gc|go1\.\d+|darwin|windows|arm64|freebsd|openbsd|netbsd")


def _is_left_out(code: Code, source: SourceFile) -> bool:
    """Whether a file asks for a tag that nobody sets by default: `//go:build integration`."""
    key = ("left out", source.id)
    kept = code.derived.get(key)
    if isinstance(kept, bool):
        return kept
    found = False
    for line in code.lines(source.id)[:20]:
        if line.startswith("package "):
            break
        if match := _BUILD.match(line):
            words = (match[1] or match[2]).replace("(", " ").replace(")", " ").split()
            found = "||" not in words and any(_is_unusual(word) for word in words)
            break
    code.derived[key] = found
    return found


def _is_unusual(word: str) -> bool:
    return word[:1].isalpha() and _BUILT_TAGS.fullmatch(word) is None


def _find_home(code: Code, source: SourceFile) -> str:
    """The package: a folder may hold that of its tests besides."""
    return f"{source.folder}:{source.package}"


def _read_type(name: str, signature: str) -> DeclaredValue:
    """`name T`, else `name := value`; what is embedded is named after its type."""
    text, word = signature.strip(), re.escape(name)
    if match := re.fullmatch(rf"(\*?(?:\w+\.)?{word}(?:\[.*\])?)(?:\s*`.*)?", text):
        return DeclaredValue("type", match[1])
    if match := re.match(rf"(?:var\s+|const\s+)?{word}(?:\s*,\s*\w+)*\s+([*\[A-Za-z_][^=`]*)", text):
        return DeclaredValue("type", match[1])
    if match := re.search(rf"{word}\s*:?=\s*(.+)", text):
        return DeclaredValue("value", match[1])
    return DeclaredValue("opaque")


def _read_shape(signature: str) -> tuple[int, int]:
    """How many parameters and results a method has."""
    text = signature.removeprefix("func").strip()
    if text.startswith("("):
        text = after_parameters(text, "").strip()
    at = text.find("(")
    results = after_parameters(text, "").strip()
    parameters = text[at + 1 : len(text) - len(results)].rstrip().removesuffix(")")
    return _count(parameters), len(_split_results(results))


def _count(parameters: str) -> int:
    if parameters.strip():
        return len(split_outside(parameters, ","))
    return 0


def _find_interfaces(code: Code, type_: int) -> list[int]:
    from laconic.index.resolve.structural_types import StructuralTypes  # it needs all languages

    return StructuralTypes("go", _read_shape).find_interfaces(code, type_)


def _find_implementers(code: Code, type_: int) -> list[int]:
    from laconic.index.resolve.structural_types import StructuralTypes

    return StructuralTypes("go", _read_shape).find_implementers(code, type_)


_BUILT_IN_TYPES: Final = split_words(
    "struct interface string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune float32 float64 "
    "complex64 complex128 bool error any map chan func "
)

_INTERFACES: Final = {
    "error": split_words("Error"),
    "fmt.Stringer": split_words("String"),
    "io.Reader": split_words("Read"),
    "io.Writer": split_words("Write"),
    "io.Closer": split_words("Close"),
    "io.ReadCloser": split_words("Read Close"),
    "io.WriteCloser": split_words("Write Close"),
    "io.ReadWriter": split_words("Read Write"),
    "io.ReaderFrom": split_words("ReadFrom"),
    "io.WriterTo": split_words("WriteTo"),
    "io.StringWriter": split_words("WriteString"),
    "http.Handler": split_words("ServeHTTP"),
    "http.ResponseWriter": split_words("Write WriteHeader"),
    "http.Flusher": split_words("Flush"),
    "http.Hijacker": split_words("Hijack"),
    "http.Pusher": split_words("Push"),
    "http.RoundTripper": split_words("RoundTrip"),
    "sort.Interface": split_words("Len Less Swap"),
    "heap.Interface": split_words("Len Less Swap Push Pop"),
    "flag.Value": split_words("String Set"),
    "json.Marshaler": split_words("MarshalJSON"),
    "json.Unmarshaler": split_words("UnmarshalJSON"),
    "encoding.TextMarshaler": split_words("MarshalText"),
    "encoding.TextUnmarshaler": split_words("UnmarshalText"),
    "context.Context": split_words("Deadline Done Err Value"),
    "net.Conn": split_words("Read Write Close LocalAddr RemoteAddr SetDeadline SetReadDeadline SetWriteDeadline"),
    "net.Listener": split_words("Accept Close Addr"),
}

_DIALECT: Final = LanguageDialect(
    family="go",
    me=frozenset(),
    above=frozenset(),
    shared="folder",
    home="folder",
    find_home=_find_home,
    types_by_import=True,
    foreign_stays=True,
    is_left_out=_is_left_out,
    read_builtin=_read_builtin,
    read_underlying=_read_underlying,
    reach={"internal": "home"},
    structural=True,
    dispatch="both",
    foreign_interfaces=_INTERFACES,
    find_implicit_bases=_find_interfaces,
    find_implicit_heirs=_find_implementers,
    types_stand_out=False,
    typed_lists=re.compile(r"(?:make\()?((?:\[\w*\]|map\[[\w.*]*\])+\*?[A-Z\w.]+)(?=[{,)])"),
    lists=re.compile(r"(?:make\()?(?:map\[|\[\w*\](?:string|int|byte|bool|any|interface|struct|rune|float|uint))"),
    builtin=_BUILT_IN_TYPES,
    locate=_locate,
    publish=lambda code: (prefix for prefix, _ in _modules(code)),
    bind=_bind,
    read_result=_read_result,
    split_results=_split_results,
    read_alias=_read_alias,
    read_type=_read_type,
)

_SCOPES: Final = frozenset(
    {
        "block",
        "function_declaration",
        "method_declaration",
        "func_literal",
        "if_statement",
        "for_statement",
        "type_switch_statement",
        "expression_switch_statement",
        "expression_case",
        "type_case",
        "communication_case",
    }
)

LANGUAGES: Final = (
    Language(
        name="go",
        extensions=(".go",),
        telling_endings=("_test.go",),
        grammar="tree_sitter_go",
        definitions=_DEFINITIONS,
        references=_REFERENCES,
        keyed=_KEYED,
        locals=_LOCALS,
        scopes=_SCOPES,
        blocks=_SCOPES,
        imports=_imports,
        refine=_refine,
        wrappers=frozenset({"type_declaration", "const_declaration", "var_declaration"}),
        ignored=_BUILT_IN,
        aliases=("golang",),
        leaving='((call_expression function: (identifier) @return) (#eq? @return "panic"))',
        dialect=_DIALECT,
    ),
    Language(name="gomod", extensions=(), filenames=("go.mod",), by_lines=_module_file),
)
