"""JSON outputs: SARIF, ESLint, ruff, pyright, mypy, cargo, go test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from laconic.errors import UsageError
from laconic.records import Finding
from laconic.reduce.findings.builds_and_tests import go_failures
from laconic.reduce.findings.findings import Findings, number, severity, span, text

_FAMILY: Final = re.compile(r"[A-Z]+")
_SARIF_LEVELS: Final = {"error": "error", "warning": "warning", "note": "info", "none": "info"}


def read(document: Any) -> Findings:
    """One JSON document."""
    if isinstance(document, dict):
        if isinstance(document.get("runs"), list):
            return _sarif(document)
        if isinstance(document.get("generalDiagnostics"), list):
            return _pyright(document)
        return read_rows([document])
    if isinstance(document, list):
        first = next((row for row in document if isinstance(row, dict)), {})
        if "filePath" in first and "messages" in first:
            return _eslint(document)
        if not document or "location" in first:
            return _ruff(document)
        return read_rows([row for row in document if isinstance(row, dict)])
    raise UsageError(
        "This JSON comes from no known tool.", "Known: SARIF, ESLint, ruff, pyright, mypy, cargo, go test."
    )


def read_rows(rows: Sequence[Mapping[str, Any]]) -> Findings:
    """JSON lines: what each row is, its keys tell."""
    keys = set()
    for row in rows[:50]:
        for key in row:
            keys.add(key)
    if "reason" in keys:
        return _cargo(rows)
    if "Action" in keys:
        return go_failures("".join(_go_output(rows)), rows)
    if {"file", "severity", "message"} <= keys:
        return Findings("mypy", tuple(_mypy(row) for row in rows if row.get("severity") != "note"))
    raise UsageError(
        "This JSON comes from no known tool.", "Known: SARIF, ESLint, ruff, pyright, mypy, cargo, go test."
    )


def _at(value: Any, *path: str | int) -> Any:
    """A value deep inside, or None where anything on the way is missing or of another shape."""
    for step in path:
        if isinstance(step, int):
            if isinstance(value, list) and len(value) > step:
                value = value[step]
            else:
                value = None
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            value = None
    return value


def _rows(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        found: list[dict[str, Any]] = []
        for row in value:
            if isinstance(row, dict):
                found.append(row)
        return found
    return []


def _sarif(document: dict[str, Any]) -> Findings:
    items: list[Finding] = []
    names: list[str] = []
    for run in _rows(document["runs"]):
        driver = _at(run, "tool", "driver") or {}
        names.append(str(driver.get("name", "sarif")))
        rules = {}
        for rule in _rows(driver.get("rules")):
            rules[str(rule.get("id"))] = rule
        shown = (result for result in _rows(run.get("results")) if not _at(result, "suppressions", 0))
        for result in shown:
            items.append(_sarif_result(result, rules, names[-1]))
    return Findings("+".join(dict.fromkeys(names)) or "sarif", tuple(items))


def _sarif_result(result: dict[str, Any], rules: Mapping[str, dict[str, Any]], tool: str) -> Finding:
    place = _at(result, "locations", 0, "physicalLocation") or {}
    region = _at(place, "region") or {}
    rule = str(result.get("ruleId") or _at(result, "rule", "id") or "")
    about = rules.get(rule, {})
    level = result.get("level") or _at(about, "defaultConfiguration", "level") or "warning"
    tags = _at(about, "properties", "tags")
    uri = str(_at(place, "artifactLocation", "uri") or "")
    return Finding(
        path=re.sub(r"^file://(?:localhost)?", "", uri),
        span=span(region.get("startLine"), region.get("endLine")),
        column=number(region.get("startColumn")),
        rule=rule,
        severity=_SARIF_LEVELS.get(str(level), "warning"),
        category=str(tags[0]) if isinstance(tags, list) and tags else _family(rule),
        message=text(_at(result, "message") or {}, "text", "markdown", "id"),
        tool=tool,
    )


def _family(rule: str) -> str:
    """What a rule is about: the letters of `SIM102`, the package of `a.b.Rule`."""
    match = _FAMILY.match(rule)
    if match and len(match[0]) < len(rule) and rule[len(match[0])].isdigit():
        return match[0]
    return rule


def _eslint(document: list[Any]) -> Findings:
    items = []
    claimed = 0
    for file in _rows(document):
        claimed += number(file.get("errorCount")) + number(file.get("warningCount"))
        for one in _rows(file.get("messages")):
            rule = str(one.get("ruleId") or ("parse-error" if one.get("fatal") else ""))
            items.append(
                Finding(
                    path=str(file["filePath"]),
                    span=span(one.get("line"), one.get("endLine")),
                    column=number(one.get("column")),
                    rule=rule,
                    severity="error" if one.get("severity") == 2 else "warning",
                    category=rule.rpartition("/")[0] or rule,
                    message=text(one, "message"),
                    tool="eslint",
                )
            )
    return Findings("eslint", tuple(items), claimed)


def _ruff(document: list[Any]) -> Findings:
    items = []
    for one in _rows(document):
        items.append(
            Finding(
                path=str(one.get("filename", "")),
                span=span(_at(one, "location", "row"), _at(one, "end_location", "row")),
                column=number(_at(one, "location", "column")),
                rule=str(one.get("code") or "syntax-error"),
                severity=severity(one.get("severity") or "error"),
                category=_family(str(one.get("code") or "syntax")),
                message=text(one, "message"),
                tool="ruff",
            )
        )
    return Findings("ruff", tuple(items))


def _pyright(document: dict[str, Any]) -> Findings:
    items = []
    for one in _rows(document["generalDiagnostics"]):
        start = number(_at(one, "range", "start", "line")) + 1
        rule = str(one.get("rule") or "syntax")
        items.append(
            Finding(
                path=str(one.get("file", "")),
                span=span(start, number(_at(one, "range", "end", "line")) + 1),
                column=number(_at(one, "range", "start", "character")) + 1,
                rule=rule,
                severity=severity(one.get("severity")),
                category=rule,
                message=text(one, "message"),
                tool="pyright",
            )
        )
    summary = document.get("summary")
    counts = []
    for word in ("error", "warning", "information"):
        counts.append(number(_at(summary, f"{word}Count")))
    return Findings("pyright", tuple(items), sum(counts) if summary else None)


def _mypy(row: Mapping[str, Any]) -> Finding:
    rule = str(row.get("code") or "syntax")
    return Finding(
        path=str(row.get("file", "")),
        span=span(row.get("line"), row.get("end_line")),
        column=number(row.get("column", -1)) + 1,
        rule=rule,
        severity=severity(row.get("severity")),
        category=rule,
        message=text(row, "message"),
        tool="mypy",
    )


def _cargo(rows: Sequence[Mapping[str, Any]]) -> Findings:
    items: dict[Finding, None] = {}
    for row in rows:
        message = row.get("message")
        if row.get("reason") != "compiler-message" or not isinstance(message, dict):
            continue
        spans = _rows(message.get("spans"))
        where = next((one for one in spans if one.get("is_primary")), {})
        if not where and message.get("code") is None:
            continue  # "aborting due to 2 previous errors"
        rule = str(_at(message, "code", "code") or "")
        items[
            Finding(
                path=str(where.get("file_name", "")),
                span=span(where.get("line_start"), where.get("line_end")),
                column=number(where.get("column_start")),
                rule=rule,
                severity=severity(message.get("level")),
                category=rule,
                message=text(message, "message"),
                tool="rustc",
            )
        ] = None
    return Findings("rustc", tuple(items))


def _go_output(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        if row.get("Action") in {"output", "build-output"}:
            yield str(row.get("Output", ""))
