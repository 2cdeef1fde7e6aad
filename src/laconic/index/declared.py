"""Types and values that program text gives to names: declarations, assignments, fields, results.

Here is what several languages write alike; what only one of them writes is in its own file.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_TYPE: Final = r"[A-Za-z_$][\w$.:]*(?:\s*<[^=;(){}]*?>)?"  # a name with its path and arguments
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
    | {"Box", "Rc", "Arc", "Ref", "RefMut", "Cow", "Pin", "MutexGuard", "RwLockReadGuard", "RwLockWriteGuard"}
    | {"Readonly", "Partial", "Promise", "Lazy", "unique_ptr", "shared_ptr", "Nullable", "Result", "Option"}
)
_NOTHING: Final = frozenset({"None", "null", "undefined", "nil"})
_MODIFIERS: Final = re.compile(
    r"^(?:(?:const|let|var|val|mut|ref|dyn|impl|public|private|protected|internal|static|final|readonly|volatile|"
    r"abstract|override|virtual|lateinit|transient|pub(?:\([^)]*\))?|export|declare|unsigned|signed|struct|class|enum)\s+)+"
)


class Given(NamedTuple):
    """What a name is given: a type as written, a value as written, or something that tells nothing."""

    at: int  # offset in the text
    kind: str  # type, value, opaque; inner: the type of a parameter of a function within
    text: str = ""


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
    sides = [side.strip().strip("\"'") for side in _split(text, "|") if side.strip() not in _NOTHING]
    if len(sides) != 1:
        return []
    text = sides[0]
    match = re.match(r"[A-Za-z_$][\w$]*(?:(?:\.|::|\\)[A-Za-z_$][\w$]*)*", text)
    if not match:
        return []
    names = re.split(r"\.|::|\\", match[0])
    rest = text[match.end() :].strip()
    if names[-1] in _WRAPPERS and rest[:1] in {"[", "<"}:
        inner = _split(rest[1 : rest.rfind("]" if rest[0] == "[" else ">")], ",")
        return type_names(inner[-1] if names[-1] == "Coroutine" else inner[0]) if inner else []
    if rest.startswith("[]") or rest.startswith("("):
        return []
    return names


def _split(text: str, mark: str) -> list[str]:
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


def read_result_after_arrow(name: str, signature: str) -> str:
    """`def f() -> T`, `fn f() -> T`."""
    if "->" not in signature:
        return ""
    text = signature.rpartition("->")[2]
    return re.split(r"\bwhere\b|\{", text)[0].strip().rstrip(":").strip()


def read_result_after_parameters(name: str, signature: str) -> str:
    """`function f(): T`, `fun f(): T`, `func f() -> T`."""
    closing = after_parameters(signature, name)
    match = re.match(r"\s*(?::|->)\s*(.+?)\s*(?:=>|\{|=|$)", closing)
    return match[1] if match else ""


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


def read_type_after_colon(name: str, signature: str) -> Given:
    """`name: T`, else `name = value`."""
    text, word = signature.strip(), re.escape(name)
    if match := re.search(rf"(?<![\w$]){word}\s*[?!]?\s*:\s*([^=;]+)", text):
        return Given(0, "type", match[1].strip().rstrip(","))
    if match := re.search(rf"(?<![\w$]){word}\s*:?=\s*([^=].*)", text):
        return Given(0, "value", match[1])
    return Given(0, "opaque")


def read_type_before_name(name: str, signature: str) -> Given:
    """`T name`."""
    if match := re.search(rf"({_TYPE})\s+[*&]?{re.escape(name)}\s*(?:[=;,]|$)", signature.strip()):
        return Given(0, "type", match[1])
    return Given(0, "opaque")


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern of a dialect, with the words in capitals replaced by what they stand for."""
    return re.compile(pattern.replace("TYPE", _TYPE).replace("REST", _REST).replace("WORD", MARK))


MARK: Final = "\0"  # stands for the name while the patterns, which are the same for all names, are tried
_REST: Final = r"([^\n=][^\n]*(?:\n\s*\.[^\n]*)*)"
# Declarations as Java, C and C# write them, and those that come after `val` and `var`.
TYPE_FIRST: Final = (
    ("type", r"(?<![\w.$])(TYPE)(?:\[\])*\s+WORD\s*(?=[=;:,)])"),
    ("type", r"(?:[(,]|\b(?:val|var))\s*WORD\s*:\s*(TYPE)"),
    ("value", r"\b(?:var|val|auto)\s+WORD\s*=\s*REST"),
    ("inner", r"WORD\s*->|\([^()]*WORD[^()]*\)\s*->"),
)
