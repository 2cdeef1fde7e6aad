"""Types and values that program text gives to names: declarations, assignments, fields, results."""

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


def bindings(family: str, name: str, text: str, signature: str) -> list[Given]:
    """All places in a function where a local name is declared or assigned, in order; parameters come first."""
    family = _LIKE.get(family, family)
    word = re.compile(rf"(?<![\w$.]){re.escape(name)}(?![\w$])")
    parameter, statements = _patterns(family)
    found: list[Given] = []
    if family == "python":
        text = _DOCUMENTATION.sub(lambda quoted: re.sub(r"[^\n]", " ", quoted[0]), text)
    header = f"{signature} {_header(text)}" if signature.endswith("…") else signature
    if parameter is not None and (match := parameter.search(word.sub(_MARK, header))):
        found.append(Given(0, "type" if match[1] else "opaque", match[1] or ""))
    marked = word.sub(_MARK, text)
    shrunk = len(name) - 1
    for kind, pattern in statements:
        for hit in pattern.finditer(marked):
            at = hit.start() + shrunk * marked.count(_MARK, 0, hit.start())
            found.append(Given(at, kind, (hit[1] if hit.groups() else "").replace(_MARK, name)))
    found.sort(key=lambda given: given.at)
    return found


def _header(text: str) -> str:
    """The parameters of a function whose signature was cut."""
    start = re.search(r"\b(?:def|func|fn|function)\b[^(]*", text)
    at, depth = start.end() if start else len(text), 0
    for end in range(at, min(len(text), at + _HEADER)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return text[at : end + 1]
    return ""


_DOCUMENTATION: Final = re.compile(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'')
_HEADER: Final = 6000  # characters of a list of parameters
_MARK: Final = "\0"  # stands for the name while the patterns, which are the same for all names, are tried
_REST: Final = r"([^\n=][^\n]*(?:\n\s*\.[^\n]*)*)"
# In each pattern WORD stands for the name, REST for a value up to the end of its line, TYPE for a written type.
_PARAMETERS: Final = {
    "python": r"[(,]\s*\*{0,2}WORD(?:\s*:\s*((?:[^\[\],()=]|\[[^\]]*\]+)+))?",
    "script": r"[(,{]\s*(?:(?:private|public|protected|readonly)\s+)*WORD\s*\??(?:\s*:\s*([^,(){}=]+))?",
    "go": r"[(,]\s*WORD(?:\s*,\s*\w+)*\s+(\*?[A-Za-z_][\w.]*|)",
    "rust": r"[(,]\s*(?:mut\s+)?WORD\s*:(?!:)\s*([^=,;)|]+)",
}
_STATEMENTS: Final = {
    "python": (
        ("type", r"(?m)^[ \t]*WORD[ \t]*:[ \t]*([^=\n#]+)"),
        ("value", r"(?m)^[ \t]*WORD[ \t]*(?::[^=\n]+)?=[ \t]*REST"),
        ("value", r"\(\s*WORD\s*:=\s*REST"),
        ("value", r"\bwith\b[^\n]*?[\s,(]([\w.]+\([^\n]*?\)|[\w.]+)\s+as\s+WORD"),
        ("type", r"\bexcept\s+([\w.]+)\s+as\s+WORD"),
        ("opaque", r"\bfor\s+[^:\n]*?WORD[^:\n]*?\bin\b"),
        ("opaque", r"(?m)^[ \t]*\(?(?:[\w.]+\s*,\s*)*WORD\s*,[^=\n()]*="),
        ("opaque", r"(?m)^[ \t]*\(?(?:[\w.]+\s*,\s*)+WORD\)?\s*="),
        ("inner", r"\blambda\b[^:\n]*?WORD[^:\n]*:"),
    ),
    "script": (
        ("type", r"(?:[(,]|\b(?:const|let|var))\s*WORD\s*[?!]?\s*:\s*([A-Z][\w.]*(?:<[^=;\n]*?>)?)\s*(?=[=,;)\n|])"),
        ("value", r"WORD\s*(?::[^=\n]+)?=\s*(?!>)REST"),
        ("opaque", r"\b(?:const|let|var)\s+(?:WORD\s+(?:of|in)\b|[\[{][^\]}]*?WORD)"),
        ("inner", r"WORD\s*=>|\([^()]*WORD[^()]*\)\s*=>"),
    ),
    "jvm": (
        ("type", r"(?<![\w.$])(TYPE)(?:\[\])*\s+WORD\s*(?=[=;:,)])"),
        ("type", r"(?:[(,]|\b(?:val|var))\s*WORD\s*:\s*(TYPE)"),
        ("value", r"\b(?:var|val|auto)\s+WORD\s*=\s*REST"),
        ("inner", r"WORD\s*->|\([^()]*WORD[^()]*\)\s*->"),
    ),
    "go": (
        ("type", r"\bvar\s+WORD\s+(\*?[A-Za-z_][\w.]*)"),
        ("inner", r"\bfunc\s*\([^()]*?WORD\s+(\*?[A-Za-z_][\w.]*)"),
        ("value", r"WORD\s*:?=\s*REST"),
        ("value", r"WORD\s*,\s*(?:\w+)\s*:=\s*(?!range\b)REST"),
        ("opaque", r"(?:\w+\s*,\s*)+WORD\s*:?=|WORD[^\n=]*:=\s*range\b"),
    ),
    "rust": (
        ("type", r"\blet\s+(?:mut\s+)?WORD\s*:(?!:)\s*([^=;\n|]+)"),
        ("inner", r"\|[^|\n]*?WORD\s*:(?!:)\s*([^=,;\n|]+)"),
        ("value", r"\blet\s+(?:mut\s+)?WORD\s*=\s*REST"),
        ("opaque", r"\bfor\s+[^{\n]*?WORD[^{\n]*?\bin\b|\b(?:Some|Ok|Err)\(\s*(?:ref\s+|mut\s+)*WORD\s*\)"),
        ("inner", r"\|[^|:\n]*WORD[^|:\n]*\|"),
        ("opaque", r"\blet\s+(?:mut\s+)?\([^)]*WORD[^)]*\)"),
    ),
}
_LIKE: Final = {"c": "jvm", "csharp": "jvm", "php": "jvm", "dart": "jvm", "swift": "jvm"}


@lru_cache(maxsize=32)
def _patterns(family: str) -> tuple[re.Pattern[str] | None, tuple[tuple[str, re.Pattern[str]], ...]]:
    def made(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern.replace("TYPE", _TYPE).replace("REST", _REST).replace("WORD", _MARK))

    parameter = _PARAMETERS.get(family)
    return made(parameter) if parameter else None, tuple(
        (kind, made(pattern)) for kind, pattern in _STATEMENTS.get(family, ())
    )


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


def result(family: str, name: str, signature: str) -> str:
    """The type that a function says it returns, as written; empty when it does not say."""
    if family in {"python", "rust"}:
        text = signature.rpartition("->")[2] if "->" in signature else ""
        return re.split(r"\bwhere\b|\{", text)[0].strip().rstrip(":").strip()
    if family == "go":
        return _go_result(signature)
    if family in {"script", "swift", "dart"} or re.match(r".*\bfun\b", signature):
        closing = _after_parameters(signature, name)
        match = re.match(r"\s*(?::|->)\s*(.+?)\s*(?:=>|\{|=|$)", closing)
        return match[1] if match else ""
    before = re.split(rf"\b{re.escape(name)}\s*[(<]", signature, maxsplit=1)[0].strip()
    before = re.sub(r"@\w+(?:\([^)]*\))?", "", before)
    words = _MODIFIERS.sub("", before + " ").strip()
    return re.sub(r"^<[^>]*>\s*", "", words)


def _after_parameters(signature: str, name: str) -> str:
    at = signature.find("(", max(0, signature.find(name)))
    depth = 0
    for position in range(max(at, 0), len(signature)):
        depth += (signature[position] == "(") - (signature[position] == ")")
        if at >= 0 and depth == 0:
            return signature[position + 1 :]
    return ""


def _go_result(signature: str) -> str:
    text = signature.removeprefix("func").strip()
    if text.startswith("("):
        text = _after_parameters(text, "")
    text = _after_parameters(text, "").strip()
    if text.startswith("("):
        text = text[1:].split(",")[0].rstrip(")").strip()
        text = text.split()[-1] if text else ""
    return text


def read_held_type(family: str, name: str, signature: str) -> Given:
    """What a variable or field is declared as."""
    text = signature.strip()
    word = re.escape(name)
    if family in {"python", "script", "rust", "swift"} or re.match(r".*\b(?:val|var)\s", text):
        if match := re.search(rf"(?<![\w$]){word}\s*[?!]?\s*:\s*([^=;]+)", text):
            return Given(0, "type", match[1].strip().rstrip(","))
        if match := re.search(rf"(?<![\w$]){word}\s*:?=\s*([^=].*)", text):
            return Given(0, "value", match[1])
        return Given(0, "opaque")
    if family == "go":
        if match := re.match(rf"(?:var\s+|const\s+)?{word}(?:\s*,\s*\w+)*\s+(\*?[A-Za-z_][\w.]*)", text):
            return Given(0, "type", match[1])
        if match := re.search(rf"{word}\s*:?=\s*(.+)", text):
            return Given(0, "value", match[1])
        return Given(0, "opaque")
    if match := re.search(rf"({_TYPE})\s+[*&]?{word}\s*(?:[=;,]|$)", text):
        return Given(0, "type", match[1])
    return Given(0, "opaque")
