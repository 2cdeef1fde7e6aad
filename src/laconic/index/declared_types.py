"""Types and values that program text gives to names: declarations, assignments, fields, results.

Here is what several languages write alike; what only one of them writes is in its own file.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TYPE: Final = r"[A-Za-z_$][\w$.:]*(?:\s*<[^=;{}]*?>)?"  # a name with its path and arguments
_WRAPPERS: Final = frozenset(
    {
        "Optional",
        "Final",
        "ClassVar",
        "Annotated",
        "Type",
        "type",
        "Awaitable",
        "Coroutine",
        "Required",
        "NotRequired",
    }
    | {
        "Box",
        "Rc",
        "Arc",
        "Ref",
        "RefMut",
        "Cow",
        "Pin",
        "MutexGuard",
        "RefCell",
        "Mutex",
        "RwLock",
        "OnceCell",
        "Cell",
        "atomic",
        "RwLockReadGuard",
        "RwLockWriteGuard",
    }
    | {"Readonly", "Partial", "Promise", "Lazy", "unique_ptr", "shared_ptr", "Nullable", "Result", "Option"}
)
_LISTS: Final = (
    "list List Sequence MutableSequence Iterable Iterator Collection set Set frozenset FrozenSet AbstractSet deque "
    "Deque tuple Tuple Generator AsyncIterator AsyncIterable Vec VecDeque HashSet BTreeSet Array ReadonlyArray "
    "ReadonlySet ArrayList LinkedList Stream Queue vector array span initializer_list unordered_set IEnumerable IList "
    "ICollection IReadOnlyList MutableList Iter"
)
_MAPS: Final = (
    "dict Dict Mapping MutableMapping defaultdict OrderedDict HashMap BTreeMap Map ReadonlyMap Record WeakMap "
    "LinkedHashMap TreeMap ConcurrentHashMap map unordered_map Dictionary IDictionary MutableMap SortedMap NavigableMap"
)
# Types that hold values of one type, with the position of that type among their arguments.
_CONTAINERS: Final = {**dict.fromkeys(_LISTS.split(), 0), **dict.fromkeys(_MAPS.split(), 1)}
_OPERATORS: Final = frozenset("|&")  # of types
_NOTHING: Final = frozenset({"None", "null", "undefined", "nil"})
_MODIFIERS: Final = re.compile(
    r"^(?:(?:const|let|var|val|mut|ref|dyn|impl|public|private|protected|internal|static|final|readonly|volatile|"
    r"abstract|override|virtual|lateinit|transient|pub(?:\([^)]*\))?|export|declare|unsigned|signed|struct|class|enum)\s+)+"
)


class DeclaredValue(NamedTuple):
    """What a name is given: a type or a value as written, an element of a value, or something that tells nothing."""

    kind: str  # type, value, each, opaque; of a function that is passed on: parameter, of one with a type: typed
    text: str = ""
    member: str = ""  # only this member of it
    part: int = 0  # only this one of several results, or the position among the parameters
    argument: int = 0  # the position of a function among the arguments of the call that `text` names


def bind_last_part(module: str) -> str:
    """`a/b::c` is known as c."""
    return module.replace("::", "/").replace("\\", "/").rstrip("/").rpartition("/")[2]


def bind_last_word(module: str) -> str:
    """`a.b.c` is known as c."""
    return bind_last_part(module).rpartition(".")[2]


def type_names(written: str) -> list[str]:
    """The path of names that a written type leads to: `Optional["a.B"]` is a, B; empty when it is not one type."""
    text = written.strip().strip("\"'").strip()
    text = re.sub(r"^[&*\s]*(?:'\w+\s+)?", "", text)
    text = _MODIFIERS.sub("", text).strip()
    text = re.sub(r"^[&*\s]*(?:mut\s+)?(?:dyn\s+|impl\s+)?", "", text)
    if not text.startswith("&"):
        text = split_outside(text, "&")[0].strip()
    sides = []
    for side in split_outside(text, "|"):
        if side.strip() not in _NOTHING:
            sides.append(side.strip().strip("\"'"))
    if len(sides) != 1:
        return []
    text = sides[0]
    match = re.match(r"[A-Za-z_$][\w$]*(?:(?:\.|::|\\)[A-Za-z_$][\w$]*)*", text)
    if not match:
        return []
    names = re.split(r"\.|::|\\", match[0])
    rest = text[match.end() :].strip()
    if names[-1] in _WRAPPERS and rest[:1] in {"[", "<"}:
        inner = split_outside(rest[1 : rest.rfind("]" if rest[0] == "[" else ">")], ",")
        if not inner:
            return []
        return type_names(inner[-1] if names[-1] == "Coroutine" else inner[0])
    if rest.startswith("[]") or rest.startswith("("):
        return []
    return names


def split_union(written: str) -> list[str]:
    """The types that a value may have, as written: `A | None` has one, `Union[A, B]` two."""
    text = written.strip().strip("\"'").strip()
    match = re.match(r"(?:typing\.|t\.)?Union\[(.*)\]$", text, re.DOTALL)
    if match:
        sides = split_outside(match[1], ",")
    else:
        sides = split_outside(text.replace("=>", "=\0"), "|")
    found = []
    for side in sides:
        plain = side.replace("=\0", "=>").strip()
        if plain and plain not in _NOTHING:
            found.append(plain)
    return found


def split_intersection(written: str) -> list[str]:
    """The types that a value has all at once: `A & B`."""
    parts = split_outside(written.replace("=>", "=\0").replace(" & ", "\1"), "\1")
    return [each.replace("\1", " & ").replace("=\0", "=>").strip() for each in parts if each.strip()]


def split_outside(text: str, mark: str) -> list[str]:
    """Parts of a text between marks that no bracket holds."""
    parts, depth, last = [], 0, 0
    for at, letter in enumerate(text):
        if letter in "[<({":
            depth += 1
        elif letter in "]>)}":
            depth -= 1
        elif letter == mark and depth == 0:
            parts.append(text[last:at])
            last = at + 1
    return [*parts, text[last:]]


def read_element_type(written: str) -> str:
    """The type of what a list, map or array holds, as written; empty when it is none of them."""
    text = _MODIFIERS.sub("", written.strip().strip("\"'")).strip().lstrip("&*").strip()
    text = re.sub(r"^(?:'\w+\s+)?(?:mut\s+|readonly\s+|const\s+)*", "", text)
    if match := re.match(
        r"(?:\[[^\];,]*\]|\.\.\.|map\[[^\]]*\]|(?:<-)?chan(?:<-)?\s)\s*([*\w\[(].*\w.*)", text
    ):  # of Go
        return match[1]
    if match := re.match(r"\[([^;\]]+)(?:;[^\]]*)?\]$", text):  # of Rust
        return match[1]
    if match := re.match(r"(.+?)\[\]$", text):
        return match[1].strip("()")
    match = re.match(r"((?:[A-Za-z_]\w*(?:\.|::))*)([A-Za-z_]\w*)\s*[\[<]", text)
    if match is None or match[2] not in _CONTAINERS:
        return ""
    closing = max(text.rfind("]"), text.rfind(">"))
    parts = split_outside(text[match.end() : closing], ",")
    return parts[_CONTAINERS[match[2]] if len(parts) > _CONTAINERS[match[2]] else -1].strip()


def read_result_after_arrow(name: str, signature: str) -> str:
    """`def f() -> T`, `fn f() -> T`."""
    if "->" not in signature:
        return ""
    text = signature.rpartition("->")[2]
    return re.split(r"\bwhere\b|\{", text)[0].strip().rstrip(":").strip()


def read_result_after_parameters(name: str, signature: str) -> str:
    """`function f(): T`, `fun f(): T`, `func f() -> T`."""
    closing = after_parameters(signature, name)
    match = re.match(r"\s*(?::|->)\s*", closing)
    if match:
        return _take_type(closing[match.end() :])
    return ""


def _take_type(text: str) -> str:
    """The type at the beginning of a text, up to the body, the arrow or the value behind it."""
    depth = 0
    for at, letter in enumerate(text):
        if depth == 0 and at and (letter == "=" or (letter == "{" and text[:at].rstrip()[-1:] not in _OPERATORS)):
            return text[:at].strip()
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or (letter == ">" and text[at - 1] != "="):
            depth -= 1
    return text.strip()


def read_result_before_name(name: str, signature: str) -> str:
    """`T f()`."""
    before = re.split(rf"\b{re.escape(name)}\s*[(<]", signature, maxsplit=1)[0].strip()
    before = re.sub(r"@\w+(?:\([^)]*\))?", "", before)
    words = _MODIFIERS.sub("", before + " ").strip()
    return re.sub(r"^<[^>]*>\s*", "", words)


def after_parameters(signature: str, name: str) -> str:
    """What follows the list of parameters of a function."""
    at = signature.find("(", max(0, signature.find(name)))
    depth = 0
    for position in range(max(at, 0), len(signature)):
        depth += (signature[position] == "(") - (signature[position] == ")")
        if at >= 0 and depth == 0:
            return signature[position + 1 :]
    return ""


def read_type_after_colon(name: str, signature: str) -> DeclaredValue:
    """`name: T`, else `name = value`."""
    text, word = signature.strip(), re.escape(name)
    if match := re.search(rf"(?<![\w$]){word}\s*[?!]?\s*:\s*([^=;]+)", text):
        return DeclaredValue("type", match[1].strip().rstrip(","))
    if match := re.search(rf"(?<![\w$]){word}\s*:?=\s*([^=].*)", text):
        return DeclaredValue("value", match[1])
    return DeclaredValue("opaque")


def read_type_before_name(name: str, signature: str) -> DeclaredValue:
    """`T name`."""
    pattern = rf"({_TYPE})(?:\s*[*&]+\s*|\s+)(?:const\s+)?{re.escape(name)}\s*(?:[=;,\[{{(:]|[A-Z]|$)"
    if match := re.search(pattern, signature.strip()):
        return DeclaredValue("type", match[1])
    return DeclaredValue("opaque")


def read_type_after_equals(name: str, signature: str) -> str:
    """`type name = T`."""
    match = re.search(rf"\b{re.escape(name)}\b[^=]*=\s*([^;]+)", signature)
    if match:
        return match[1].strip()
    return ""


def take_whole(written: str) -> list[str]:
    """A function has one result."""
    if written:
        return [written]
    return []
