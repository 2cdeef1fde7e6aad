"""Gradle build files in either of their languages: modules, dependencies between them, plugins and tasks."""

from __future__ import annotations

import re
from typing import Final

from laconic.index.language import Language
from laconic.index.parse.source import Source
from laconic.records import Definition, Import, ParsedFile, Span

_INCLUDE: Final = re.compile(r"^\s*include\b|^\s*includeBuild\b")
_QUOTED: Final = re.compile(r"""["']([^"']+)["']""")
_PROJECT: Final = re.compile(r"""\bproject\s*\(\s*(?:path\s*[:=]\s*)?["']([^"']+)["']""")
_DEPENDENCY: Final = re.compile(
    r"""^\s*\w*(?:[iI]mplementation|[aA]pi|compileOnly|runtimeOnly|[pP]rocessor|kapt|ksp|classpath)\b[\s(]*["']([^"']+)["']"""
)
_PLUGIN: Final = re.compile(r"""^\s*id\b[\s(]*["']([^"']+)["']|^\s*apply\s+plugin:\s*["']([^"']+)["']""")
_TASK: Final = re.compile(r"""^\s*(?:task\s+|tasks\.(?:register|create)\w*(?:<\w+>)?\s*\(\s*["']|val\s+)(\w+)""")
_NAME: Final = re.compile(r"""^\s*rootProject\.name\s*=\s*["']([^"']+)["']""")


def _parse(source: Source) -> ParsedFile:
    lines = source.data.decode("utf-8", "replace").splitlines()
    definitions: list[Definition] = []
    imports: list[Import] = []
    listing = False  # inside an `include` of several lines
    for number, line in enumerate(lines, 1):
        code = line.split("//", 1)[0]
        span, text = Span(number, number), " ".join(line.split())[:200]
        listing = bool(_INCLUDE.match(code)) or listing
        if listing:
            for name in _QUOTED.findall(code):
                definitions.append(
                    Definition(name=name.lstrip(":"), kind="module", span=span, line=number, signature=text)
                )
            listing = code.rstrip().endswith((",", "(", "include")) and bool(code.strip())
        elif match := _NAME.match(code):
            definitions.append(
                Definition(name=match[1], kind="module", span=span, line=number, signature=text, modifiers=("root",))
            )
        elif (match := _PROJECT.search(code)) or (match := _DEPENDENCY.match(code)):
            imports.append(Import(match[1], number))
        elif match := _PLUGIN.match(code):
            imports.append(Import(match[1] or match[2], number))
        elif (match := _TASK.match(code)) and not code.lstrip().startswith("val "):
            definitions.append(
                Definition(
                    name=match[1], kind="function", span=span, line=number, signature=text, modifiers=("task",)
                )
            )
    return ParsedFile("gradle", len(lines), tuple(definitions), imports=tuple(imports))


LANGUAGE: Final = Language(name="gradle", extensions=(".gradle", ".gradle.kts"), by_lines=_parse)
