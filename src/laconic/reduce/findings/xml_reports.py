"""XML reports: JUnit, Checkstyle, PMD, SpotBugs (and FindBugs). A document type with its own entities is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final
from xml.etree import ElementTree as Tree

from laconic.errors import UsageError
from laconic.records import Finding
from laconic.reduce.findings.findings import Findings, number, severity, span, text

_DOCTYPE: Final = re.compile(r"<!DOCTYPE[^\[>]*(\[|>)")
_PRIORITY: Final = {"1": "error", "2": "error", "3": "warning", "4": "info", "5": "info"}
_RANK: Final = {"1": "error", "2": "warning", "3": "info"}
_PLACE: Final = re.compile(
    r'(?:File "(?P<file>[^"]+)", line (?P<line>\d+)|\((?P<file2>\w+\.\w+):(?P<line2>\d+)\)|^'
    r"(?P<file3>[^\s:]+\.\w+):(?P<line3>\d+))",
    re.M,
)


def read(output: str) -> Findings:
    """One XML document."""
    root = _root(output)
    readers: Mapping[str, Callable[[Tree.Element], Findings]] = {
        "testsuite": _junit,
        "testsuites": _junit,
        "checkstyle": _checkstyle,
        "pmd": _pmd,
        "BugCollection": _spotbugs,
    }
    name = _name(root)
    if name not in readers:
        raise UsageError(
            f"XML with the root <{name}> is not a known report.", "Known: JUnit, Checkstyle, PMD, SpotBugs."
        )
    return readers[name](root)


def _root(output: str) -> Tree.Element:
    start = output.find("<!DOCTYPE", 0, 10_000)
    if start >= 0 and (found := _DOCTYPE.match(output, start)):
        if found[1] == "[":
            raise UsageError("The XML declares its own entities.", "Reports do not need them; it was not read.")
        output = output[:start] + output[found.end() :]
    try:
        return Tree.fromstring(output.strip().encode("utf-8", "replace"))
    except Tree.ParseError as error:
        raise UsageError(f"The XML is broken: {error}.", "Give the whole file.") from None


def _name(element: Tree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _each(element: Tree.Element, name: str) -> Iterator[Tree.Element]:
    return (one for one in element.iter() if _name(one) == name)


def _junit(root: Tree.Element) -> Findings:
    items = []
    cases = skipped = 0
    for case in _each(root, "testcase"):
        cases += 1
        troubles = []
        for one in case:
            if _name(one) in {"failure", "error"}:
                troubles.append(one)
        skipped += not troubles and any(_name(one) == "skipped" for one in case)
        if troubles:
            items.append(_junit_case(case, troubles[0]))
    suites = []
    for one in _each(root, "testsuite"):
        if not any(_name(child) == "testsuite" for child in one):
            suites.append(one)
    claimed = 0
    for one in suites:
        claimed += number(one.get("failures")) + number(one.get("errors"))
    return Findings(
        tool="junit", items=tuple(items), claimed=claimed, passed=cases - len(items) - skipped, skipped=skipped
    )


def _junit_case(case: Tree.Element, trouble: Tree.Element) -> Finding:
    group, name = case.get("classname", ""), case.get("name", "")
    body = trouble.text or ""
    path, line = case.get("file", ""), case.get("line", "")
    wanted = group.rpartition(".")[2].split("$")[0]
    places = []
    for m in _PLACE.finditer(body):
        places.append((m["file"] or m["file2"] or m["file3"], m["line"] or m["line2"] or m["line3"]))
    known = []
    for place in places:
        if wanted and place[0].rpartition("/")[2].rpartition(".")[0] == wanted:
            known.append(place)
    for place in places:
        if place[0].replace("/", ".").rpartition(".")[0] in group:
            known.append(place)
    if known:
        path, line = path or known[-1][0], known[-1][1]
    message = trouble.get("message") or body.strip().split("\n", 1)[0]
    return Finding(
        path=path,
        span=span(line),
        rule=_name(trouble),
        severity="error",
        category="test",
        message=" ".join(message.split()),
        tool="junit",
        test=f"{group}.{name}" if group else name,
    )


def _checkstyle(root: Tree.Element) -> Findings:
    items = []
    for file in _each(root, "file"):
        for error in _each(file, "error"):
            source = error.get("source", "")
            rule = source.rpartition(".")[2].removesuffix("Check")
            items.append(
                Finding(
                    path=file.get("name", ""),
                    span=span(error.get("line")),
                    column=number(error.get("column")),
                    rule=rule,
                    severity=severity(error.get("severity")),
                    category=source.rpartition(".")[0].rpartition(".")[2] or rule,
                    message=text(error.attrib, "message"),
                    tool="checkstyle",
                )
            )
    return Findings("checkstyle", tuple(items))


def _pmd(root: Tree.Element) -> Findings:
    items = []
    for file in _each(root, "file"):
        for one in _each(file, "violation"):
            items.append(
                Finding(
                    path=file.get("name", ""),
                    span=span(one.get("beginline"), one.get("endline")),
                    column=number(one.get("begincolumn")),
                    rule=one.get("rule", ""),
                    severity=_PRIORITY.get(one.get("priority", ""), "warning"),
                    category=one.get("ruleset", ""),
                    message=" ".join((one.text or "").split()),
                    tool="pmd",
                )
            )
    return Findings("pmd", tuple(items))


def _spotbugs(root: Tree.Element) -> Findings:
    items = []
    for bug in _each(root, "BugInstance"):
        lines = []
        for one in bug:
            if _name(one) == "SourceLine":
                lines.append(one)
        lines += [one for one in _each(bug, "SourceLine") if one not in lines]
        if lines:
            place: Mapping[str, str] = lines[0].attrib
        else:
            place = {}
        said = next((one.text for one in bug if _name(one) == "LongMessage"), None) or bug.get("type")
        items.append(
            Finding(
                path=place.get("sourcepath", ""),
                span=span(place.get("start"), place.get("end")),
                rule=bug.get("type", ""),
                severity=_RANK.get(bug.get("priority", ""), "warning"),
                category=bug.get("category", ""),
                message=" ".join((said or "").split()),
                tool="spotbugs",
            )
        )
    summary = next(_each(root, "FindBugsSummary"), None)
    if summary is not None:
        claimed = summary.get("total_bugs")
    else:
        claimed = None
    return Findings("spotbugs", tuple(items), number(claimed) if claimed else None)
