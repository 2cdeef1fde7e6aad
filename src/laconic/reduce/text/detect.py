"""Tell by its content what kind of text this is. It reads a sample, never the whole of a large text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, Literal

from laconic.reduce.text import signals
from laconic.reduce.text.clean import clean, is_binary
from laconic.reduce.text.delimited import delimiter_of
from laconic.reduce.text.diagnostics import looks_headed, looks_indented, looks_placed
from laconic.reduce.text.envelope import unwrap
from laconic.reduce.text.listings import ENTRY
from laconic.reduce.text.search_results import CONTEXT, MATCH, PLAIN

Kind = Literal[
    "empty", "binary", "json", "stream", "html", "patch", "tests", "diagnostics", "search", "log", "trace", "build",
    "listing", "table", "numbered", "code", "prose",
]  # fmt: skip

_SAMPLE_LINES: Final = 300
_TESTS: Final = re.compile(
    r"(?m)^={3,} (?:test session starts|FAILURES|ERRORS|short test summary)|^={3,} .*\b\d+ (?:passed"
    r"|failed|error)|^Ran \d+ tests? in "
    r"|^--- (?:FAIL|PASS|SKIP): |^=== RUN|^test result: |^Tests?: +\d+ |^Test Suites: |^Tests run: \d"
    r"|^ *\d+ (?:passing|failing)\b"
    r"|^\d+ examples?, |^(?:FAIL|PASS)\s+\S+\.(?:test|spec)\.|^(?:ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\)"
    r"|\[)|^running \d+ tests?$"
    r"|^TAP version|^(?:not )?ok \d+ |^\[(?:INFO|ERROR|WARNING)\] Tests run:|^ *Test Files +\d"
    r"|^\S+ > .* (?:PASSED|FAILED)$"
    r"|^test\w* \([\w.]+\)(?: \.\.\.|$)|^PASSED \S+::|^FAILED \S+::|\d+ tests completed, \d+ failed"
    r"|^\S+::\S+ (?:PASSED|FAILED|ERROR)"
)
_BUILD: Final = re.compile(
    r"(?m)^(?:Collecting|Requirement already|Successfully installed|Looking in indexes|npm (?:ERR!|error"
    r"|warn|WARN|notice)|added \d+ packages"
    r"| *Compiling \S+ v\d|\[INFO\] |\[ERROR\] |> Task :|BUILD (?:SUCCESS|FAILURE|SUCCESSFUL|FAILED)"
    r"|Reading package lists|Get:\d|yarn install|make(?:\[\d+\])?: "
    r"|#\d+ \[|Step \d+/\d+|go: (?:downloading|finding)|cargo:|Downloading |Fetching |Resolving |  × |ERROR: )"
)
_LONG_LIST: Final = re.compile(r"^[-dlbcps][rwxsStT-]{9}[.+@]?\s+\d+ |^total \d+|^[\d.]+[KMGTB]?\s+\S*/\S*$")
_PATHS: Final = re.compile(r"^(?:\.{0,2}/)?(?:[\w@.+ -]+/)*[\w@.+ -]*\w/?$")
_TREE: Final = re.compile(r"^[│| ]*[├└|`+][─-]{1,3} ")
_CODE: Final = re.compile(
    r"^\s*(?:import |from \S+ import|def |class |func |fn |function |const |let |var |public |private "
    r"|package |#include|use |if |for |while |return\b"
    r"|\}|\{|//|/\*|\* |#!|@\w+|end\b|export |async |type |struct |interface )|[;{}]$|^\s+\w+\(.*\)$"
    r"|^\s*\w[\w.]* = "
)
_MARKUP: Final = 20_000  # characters in which tags are counted
_LINE: Final = 300  # characters of a line, on average, of what no person wrote
_TAGS: Final = 20
_TAGS_SHARE: Final = 0.25  # of the characters
_TAG: Final = re.compile(r"</?[a-z][a-z0-9-]*(?:\s[^<>]*)?>", re.IGNORECASE)
_COLUMNS: Final = re.compile(r"\S {2,}\S|\t")
_TRACE: Final = re.compile(
    r"(?m)^\s*Traceback \(most recent call last\)|^Exception in thread|^goroutine \d+ \[|^Caused by: "
    r"|^\s*at \S+ ?\(.*:\d+|panicked at"
)


def detect(text: str) -> Kind:
    """The kind of a text, also when it comes wrapped, coloured or numbered."""
    if not text.strip():
        return "empty"
    if is_binary(text):
        return "binary"
    return detect_clean(
        unwrap(clean(text[:400_000] if len(text) > 400_000 else text)).body, whole=len(text) <= 400_000
    )


def detect_clean(body: str, whole: bool = True) -> Kind:
    """The kind of a text that is already clean and unwrapped."""
    if not body.strip():
        return "prose"
    if kind := _detect_structure(body, whole):
        return kind
    lines = sample(body)
    solid = []
    for line in lines:
        if line.strip():
            solid.append(line)
    if _is_numbered(solid):
        return "numbered"
    text = "\n".join(lines)
    patched = _patch_share(body)
    if patched > 0.5:
        return "patch"
    if _TESTS.search(text) or _TESTS.search(body[-4000:]):
        return "tests"
    if delimiter_of(solid):
        return "table"
    return _by_lines(solid, lines, text)


def _by_lines(solid: Sequence[str], lines: Sequence[str], text: str) -> Kind:
    found = _share(solid, looks_placed)
    rows = _share(solid, looks_indented)
    headed = sum(looks_headed(line, lines[i + 1 : i + 3]) for i, line in enumerate(lines)) / max(1, len(solid))
    located = _share(solid, _is_hit)
    logged = _share(solid, lambda line: signals.LOGGED.match(line) is not None)
    if located > 0.6 and found < 0.6 * located:
        return "search"
    if logged > 0.5 and found < 0.3:
        return "log"
    if found > 0.08 or rows > 0.3 or headed > 0.04:
        return "diagnostics"
    if located > 0.4:
        return "search"
    if _TRACE.search(text):
        return "trace"
    if len(_BUILD.findall(text)) >= 2:
        return "build"
    if _share(solid, lambda line: _LONG_LIST.match(line) is not None) > 0.5 or _share(solid, _is_tree) > 0.5:
        return "listing"
    if len(solid) > 5 and _share(solid, _is_path) > 0.8:
        return "listing"
    if logged > 0.3:
        return "log"
    if _share(solid, lambda line: _CODE.search(line) is not None) > 0.4:
        return "code"
    if len(solid) > 4 and _share(solid, lambda line: len(_COLUMNS.findall(line)) > 1 or line.count("|") > 2) > 0.7:
        return "table"
    if _is_repetitive(solid):
        return "log"
    return "prose"


def sample(body: str) -> list[str]:
    """Lines from the start, the middle and the end."""
    if len(body) > 200_000:
        middle = len(body) // 2
        body = "\n".join([body[:60_000], body[middle : middle + 40_000], body[-60_000:]])
    lines = []
    for line in body.split("\n"):
        lines.append(line[:2000])
    if len(lines) <= _SAMPLE_LINES:
        return lines
    third = _SAMPLE_LINES // 3
    middle = (len(lines) - third) // 2
    return [*lines[:third], *lines[middle : middle + third], *lines[-third:]]


def _detect_structure(body: str, whole: bool) -> Kind | None:
    start = body.lstrip()[:2000].lower()
    if start.startswith(("{", "[")) and not re.match(r"\[[a-z0-9 :.,/-]+\][ \n]", start):
        lines = []
        for line in body[:100_000].split("\n"):
            if line.strip():
                lines.append(line)
        objects = 0
        for line in lines[:-1] or lines:
            objects += line.startswith("{") and line.endswith("}")
        if len(lines) > 1 and objects * 10 >= len(lines) * 8:
            return "stream"
        if not whole or body.rstrip().endswith(("}", "]")) or '":' in start:
            return "json"
    if start.startswith(("data:", "event:", ": ")) and body.count("\ndata:") + start.startswith("data:") > 1:
        return "stream"
    if start.startswith(("<!doctype html", "<html", "<?xml")) or ("<body" in start and "<head" in start):
        return "html"
    if _is_markup(body):
        return "html"
    return None


def _is_markup(body: str) -> bool:
    """A page, or a part of one, as browsers write it: in few long lines. Sources have many short ones."""
    begun = body[:_MARKUP]
    if begun.count("\n") * _LINE > len(begun):
        return False
    tags = _TAG.findall(begun)
    return len(tags) >= _TAGS and sum(map(len, tags)) >= _TAGS_SHARE * len(begun)


def _patch_share(body: str) -> float:
    """How much of the text belongs to diffs or commits."""
    lines = body[:300_000].split("\n")
    inside = 0
    count = 0
    for line in lines:
        if line.startswith(("diff --git ", "@@ -", "+++ ", "commit ")):
            inside = 1
            count += 1
        elif inside and (
            not line or line[0] in " +-\\@" or line.startswith(("index ", "Author:", "Date:", "new file", "Merge:"))
        ):
            count += 1
        elif inside and not line.startswith(
            ("deleted file", "similarity", "rename ", "old mode", "new mode", "Binary ")
        ):
            inside = 0
    if not re.search(r"(?m)^(?:@@ -\d|commit [0-9a-f]{7,})", body[:300_000]):
        return 0.0
    return count / max(1, len(lines))


def _is_numbered(solid: Sequence[str]) -> bool:
    """As `cat -n` prints: a rising number before each line."""
    numbers = []
    for line in solid:
        if found := NUMBERED.match(line):
            numbers.append(int(found[1]))
    return len(numbers) > 3 and len(numbers) * 10 >= len(solid) * 9 and all(a < b for a, b in pairwise(numbers))


NUMBERED: Final = re.compile(r"^ *(\d+)(?:\t|→|[:-]| \| ?|  )")


def _share(lines: Sequence[str], test: Callable[[str], bool]) -> float:
    return sum(map(test, lines)) / max(1, len(lines))


def _is_repetitive(solid: Sequence[str]) -> bool:
    """Many lines that differ in numbers only."""
    return len(solid) > 100 and len({signals.template(line) for line in solid}) * 3 < len(solid)


def _is_hit(line: str) -> bool:
    found = MATCH.match(line) or CONTEXT.match(line) or PLAIN.match(line)
    return found is not None and not signals.LOGGED.match(line) and found["path"].count(" ") < 2


def _is_tree(line: str) -> bool:
    return _TREE.match(line) is not None


def _is_path(line: str) -> bool:
    if ENTRY.match(line):
        return True
    return _PATHS.match(line) is not None and ("/" in line or "." in line) and line.count(" ") < 3
