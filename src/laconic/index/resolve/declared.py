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
    | {"Readonly", "Partial", "Required", "Lazy", "unique_ptr", "shared_ptr", "Nullable"}
)
_NOTHING: Final = frozenset({"None", "null", "undefined", "nil"})
_MODIFIERS: Final = re.compile(
    r"^(?:(?:const|let|var|val|mut|ref|dyn|impl|public|private|protected|internal|static|final|readonly|volatile|"
    r"abstract|override|virtual|lateinit|transient|pub(?:\([^)]*\))?|export|declare|unsigned|signed|struct|class|enum)\s+)+"
)


class Given(NamedTuple):
    """What a name is given: a type as written, a value as written, or something that tells nothing."""

    at: int  # offset in the text
    kind: str  # type, value, opaque
    text: str = ""


def bindings(family: str, name: str, text: str) -> list[Given]:
    """All places in a stretch of program where a local name is declared or assigned, in order."""
    found: list[Given] = []
    for kind, pattern in _patterns(family, name):
        found += [Given(hit.start(), kind, hit[1] if hit.groups() else "") for hit in pattern.finditer(text)]
    found.sort(key=lambda given: (given.at, given.kind != "type"))
    return found


@lru_cache(maxsize=4096)
def _patterns(family: str, name: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    word = rf"(?<![\w$.]){re.escape(name)}(?![\w$])"
    rest = r"([^\n=][^\n]*(?:\n\s*\.[^\n]*)*)"
    table: dict[str, tuple[tuple[str, str], ...]] = {
        "python": (
            ("type", rf"{word}\s*:\s*([^=,)\n]+)"),
            ("value", rf"(?m)^[ \t]*{word}\s*=\s*{rest}"),
            ("value", rf"\(\s*{word}\s*:=\s*{rest}"),
            ("value", rf"\bwith\s[^\n]*?(?:^|[\s,(])([\w.]+\([^\n]*?\)|[\w.]+)\s+as\s+{word}"),
            ("type", rf"\bexcept\s+([\w.]+)\s+as\s+{word}"),
            ("opaque", rf"\bfor\s+[^:\n]*?{word}[^:\n]*?\bin\b|(?m:^[ \t]*(?:[\w.]+\s*,\s*)*{word}\s*,[^=\n()]*=)"),
            ("opaque", rf"(?m)^[ \t]*\(?[\w.]+(?:\s*,\s*[\w.]+)*?,\s*{word}\)?\s*="),
        ),
        "script": (
            ("type", rf"{word}\s*[?!]?\s*:\s*([^=,;(){{}}\n]+)(?=[=,;)\n])"),
            ("value", rf"{word}\s*(?::[^=\n]+)?=\s*(?!>){rest}"),
            ("opaque", rf"\b(?:const|let|var)\s+(?:{word}\s+(?:of|in)\b|[\[{{][^\]}}]*?{word})"),
        ),
        "jvm": (
            ("type", rf"(?<![\w.$])({_TYPE})(?:\[\])*\s+{word}\s*(?=[=;:,)])"),
            ("type", rf"{word}\s*:\s*({_TYPE})"),
            ("value", rf"\b(?:var|val)\s+{word}\s*=\s*{rest}"),
        ),
        "go": (
            ("type", rf"[(,\s]{word}(?:\s*,\s*\w+)*\s+(\*?[A-Za-z_][\w.]*)"),
            ("value", rf"{word}\s*:?=\s*{rest}"),
            ("value", rf"{word}\s*,\s*(?:\w+)\s*:=\s*(?!range\b){rest}"),
            ("opaque", rf"(?:\w+\s*,\s*)+{word}\s*:?=|{word}[^\n=]*:=\s*range\b"),
        ),
        "rust": (
            ("type", rf"{word}\s*:\s*([^=,;)\n|]+)"),
            ("value", rf"\blet\s+(?:mut\s+)?{word}\s*=\s*{rest}"),
            (
                "opaque",
                rf"\bfor\s+[^{{\n]*?{word}[^{{\n]*?\bin\b|\bSome\({word}\)|\bOk\({word}\)|\|[^|\n]*{word}[^|\n]*\|",
            ),
        ),
    }
    table["c"] = table["csharp"] = table["php"] = table["jvm"]
    chosen = table.get(family, table["script"] if family in {"swift", "dart"} else ())
    return tuple((kind, re.compile(pattern)) for kind, pattern in chosen)


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


def held(family: str, name: str, signature: str) -> Given:
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
