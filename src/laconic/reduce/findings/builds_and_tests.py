"""Outputs of builds and test runs, compiler messages and failed tests together: pytest, cargo, go, Maven, Gradle."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from laconic.records import Finding
from laconic.reduce.findings.findings import Findings, number, severity, span
from laconic.reduce.findings.linters import javac

_PYTEST_CASE: Final = re.compile(
    r"^(?P<what>FAILED|ERROR) (?P<path>[^\s:]+)(?:::(?P<test>.*?))?(?: - (?P<message>.*))?$", re.M
)
_PYTEST_PLACE: Final = re.compile(r"^(?P<path>[^\s:]+):(?P<line>\d+): (?P<what>[\w.]+)\s*$", re.M)
_PYTEST_HEAD: Final = re.compile(r"^_{2,} (?:ERROR at (?:setup|teardown) of |ERROR collecting )?(.+?) _{2,}$", re.M)
_PYTEST_REASON: Final = re.compile(r"^E\s{1,7}(?=\S)(.*)$", re.M)
_PYTEST_TOTAL: Final = re.compile(r"^=*\s*((?:\d+ \w+(?:, )?)+) in [\d.:]+", re.M)
_PYTEST_CONFTEST: Final = re.compile(
    r"^(?P<kind>\w+) while loading conftest '(?P<path>[^']+)'\.\n(?P<trace>(?:.*\n?)*)", re.M
)
_RUSTC: Final = re.compile(
    r"^(?P<level>error|warning)(?:\[(?P<rule>\w+)\])?: (?P<message>.*)\n(?:[^\n]*\n)??\s*--> "
    r"(?P<path>.*?):(?P<line>\d+):(?P<column>\d+)$",
    re.M,
)
_RUSTC_LINT: Final = re.compile(r"#\[(?:warn|deny|forbid)\(([\w:]+)\)\]|rust-clippy/\S*#(?P<clippy>\w+)")
_CARGO_TOTAL: Final = re.compile(
    r"due to (?:(\d+) )?previous errors?(?:; (\d+) warnings? emitted)?"
    r"|generated (\d+) warnings?(?: \((?:(\d+) duplicates?)?)?",
    re.M,
)
_CARGO_TEST: Final = re.compile(r"^test (?P<test>\S+)(?: - should panic)? \.\.\. (?P<what>ok|FAILED|ignored)", re.M)
_CARGO_PANIC: Final = re.compile(
    r"^thread '(?P<test>[^']+)'(?: \(\d+\))? panicked at (?P<path>[^:\n]+):(?P<line>\d+):"
    r"(?P<column>\d+):\n(?P<message>(?:(?!stack backtrace|note: |\n).*\n?){1,4})",
    re.M,
)
_GO_PLACE: Final = re.compile(
    r"^(?:vet: )?(?P<path>(?:\./)?[^\s:]+\.go):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<message>.*)$", re.M
)
_GO_FAIL: Final = re.compile(r"^(?P<indent> *)--- (?P<what>FAIL|PASS|SKIP): (?P<test>\S+)", re.M)
_GO_LOG: Final = re.compile(r"^\s+(?P<path>[^\s:]+\.go):(?P<line>\d+): (?P<message>.*)$", re.M)
_GO_PANIC: Final = re.compile(r"^panic: (.*)$", re.M)
_GO_TRACE: Final = re.compile(r"^\t(?P<path>\S+_test\.go):(?P<line>\d+)", re.M)
_MAVEN_JAVAC: Final = re.compile(
    r"^\[(?P<level>ERROR|WARNING)\] (?P<path>\S+\.(?:java|kt|scala)):\[(?P<line>\d+),"
    r"(?P<column>\d+)\] (?P<message>.*)$",
    re.M,
)
_MAVEN_TEST: Final = re.compile(
    r"^\[ERROR\]\s{2,}(?P<test>[\w$.]+)(?::(?P<line>\d+))?(?:->[\w$.]+:\d+)* (?P<message>.*)$", re.M
)
_MAVEN_TOTAL: Final = re.compile(
    r"^\[\w+\] Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)\s*$", re.M
)
_GRADLE_TEST: Final = re.compile(
    r"^(?P<class>[\w.$]+)(?: > .*?)?? > (?P<test>[^>\n]+?) FAILED\n[ \t]+(?P<message>.*)((?:\n[ \t]+\S.*)*)", re.M
)
_JAVA_PLACE: Final = re.compile(r"\b(\w+\.(?:java|kt|groovy|scala)):(\d+)\b")
_GRADLE_TOTAL: Final = re.compile(r"^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?", re.M)


def pytest(output: str) -> Findings:
    """Failed and broken tests, each with the place and the reason that its section gives."""
    sections = _sections(output)
    items = []
    for match in _PYTEST_CASE.finditer(output):
        test = match["test"] or ""
        place, reason = _where(sections.get(_section_name(test), sections.get(match["path"], "")), match["path"])
        items.append(
            Finding(
                path=match["path"],
                span=span(place),
                rule="error" if match["what"] == "ERROR" else "failure",
                severity="error",
                category="test",
                message=reason or match["message"] or "",
                tool="pytest",
                test=test,
            )
        )
    if broken := _PYTEST_CONFTEST.search(output):
        items.append(_broken_conftest(broken))
    counts = _read_counts(_PYTEST_TOTAL, output)
    if counts:
        claimed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)
    else:
        claimed = None
    return Findings(
        tool="pytest",
        items=tuple(items),
        claimed=claimed,
        passed=counts.get("passed", 0),
        skipped=counts.get("skipped", 0),
    )


def _broken_conftest(match: re.Match[str]) -> Finding:
    """A conftest that cannot be imported: no test ran."""
    reason = _PYTEST_REASON.search(match["trace"])
    name = match["path"].rpartition("/")[2]
    places = re.findall(rf"^(?:\S*/)?{re.escape(name)}:(\d+): ", match["trace"], re.M)
    return Finding(
        path=match["path"],
        span=span(places[-1]) if places else None,
        rule="error",
        severity="error",
        category="conftest",
        message=" ".join(reason[1].split()) if reason else match["kind"],
        tool="pytest",
    )


def _section_name(test: str) -> str:
    return test.replace("::", ".")


def _sections(output: str) -> dict[str, str]:
    """The text under each test's heading."""
    heads = list(_PYTEST_HEAD.finditer(output))
    ends = [*(head.start() for head in heads[1:]), len(output)]
    found: dict[str, str] = {}
    for head, end in zip(heads, ends, strict=False):
        found[head[1]] = output[head.end() : end]
    return found


def _where(section: str, path: str) -> tuple[int, str]:
    """The line in the test file where it failed, and the reason."""
    places = []
    for place in _PYTEST_PLACE.finditer(section):
        if place["path"] == path:
            places.append(number(place["line"]))
    inner = re.findall(rf"^{re.escape(path)}:(\d+): ", section, re.M)
    reason = _PYTEST_REASON.search(section)
    if places:
        line = places[0]
    elif inner:
        line = number(inner[0])
    else:
        line = 0
    return line, " ".join(reason[1].split()) if reason else ""


def _read_counts(pattern: re.Pattern[str], output: str) -> dict[str, int]:
    found = pattern.findall(output)
    if not found:
        return {}
    pairs = (part.split(" ", 1) for part in found[-1].split(", "))
    made: dict[str, int] = {}
    for count, word in pairs:
        made[word] = int(count)
    return made


def cargo(output: str) -> Findings:
    """Compiler messages and failed tests."""
    items: list[Finding] = []
    for match in _RUSTC.finditer(output):
        lint = _RUSTC_LINT.search(output, match.end(), output.find("\n\n", match.end()))
        if lint:
            if lint["clippy"]:
                named = f"clippy::{lint['clippy']}"
            else:
                named = lint[1]
        else:
            named = ""
        rule = match["rule"] or named
        items.append(
            Finding(
                path=match["path"],
                span=span(match["line"]),
                column=number(match["column"]),
                rule=rule,
                severity=severity(match["level"]),
                category=rule or "rustc",
                message=match["message"],
                tool="rustc",
            )
        )
    compiler = len(items)
    panics = {match["test"]: match for match in _CARGO_PANIC.finditer(output)}
    results = list(_CARGO_TEST.finditer(output))
    for m in results:
        if m["what"] == "FAILED":
            items.append(_cargo_test(m["test"], panics.get(m["test"])))
    failed = sum(match["what"] == "FAILED" for match in results)
    if results:
        passed = sum(match["what"] == "ok" for match in results)
    else:
        passed = None
    if results or compiler:
        claimed = _cargo_claim(output) + failed
    else:
        claimed = None
    if "could not compile" in output:  # a target that does not compile is told of again with its tests
        items = list(dict.fromkeys(items))
    return Findings(
        tool="cargo",
        items=tuple(items),
        claimed=claimed,
        passed=passed,
        skipped=sum(match["what"] == "ignored" for match in results),
    )


def _cargo_claim(output: str) -> int:
    """How many messages the summaries speak of; cargo does not print duplicates, "previous error" alone is one."""
    broken, warned = [0], 0
    for errors, warnings, generated, duplicates in _CARGO_TOTAL.findall(output):
        if generated:
            warned += number(generated) - number(duplicates)
        else:
            broken.append(number(errors or 1) + number(warnings))
    return max(broken) or warned


def _cargo_test(test: str, panic: re.Match[str] | None) -> Finding:
    return Finding(
        path=panic["path"] if panic else "",
        span=span(panic["line"]) if panic else None,
        column=number(panic["column"]) if panic else 0,
        rule="failure",
        severity="error",
        category="test",
        message=" ".join(panic["message"].split()) if panic else "",
        tool="cargo test",
        test=test,
    )


def go(output: str) -> Findings:
    """`go vet`, `go build` and `go test`."""
    return go_failures(output, ())


def go_failures(output: str, rows: Sequence[Mapping[str, Any]]) -> Findings:
    """Failed tests without their parents, and compiler messages; `rows` are those of `go test -json`."""
    results = list(_GO_FAIL.finditer(output))
    failed = []
    for match in results:
        if match["what"] == "FAIL":
            failed.append(match)
    names = set()
    for match in failed:
        names.add(match["test"])
    inner = []
    for match in failed:
        if not any(name.startswith(f"{match['test']}/") for name in names):
            inner.append(match)
    items = []
    for match in inner:
        items.append(_go_test(output, match))
    for match in _GO_PLACE.finditer(output):
        items.append(
            Finding(
                path=match["path"].removeprefix("./"),
                span=span(match["line"]),
                column=number(match["column"] or 0),
                rule="vet" if "vet: " in match[0] or not results else "compile",
                severity="error",
                category="go",
                message=match["message"],
                tool="go",
            )
        )
    told = rows or any(match["what"] != "FAIL" for match in results)  # otherwise go only names what failed
    if told:
        passed = sum(match["what"] == "PASS" for match in results)
    else:
        passed = None
    return Findings(
        tool="go",
        items=tuple(dict.fromkeys(items)),
        claimed=None,
        passed=passed,
        skipped=sum(match["what"] == "SKIP" for match in results),
    )


def _go_test(output: str, match: re.Match[str]) -> Finding:
    following = _GO_FAIL.search(output, match.end())
    part = output[match.end() : following.start() if following else len(output)]
    before = output[: match.start()].rpartition(f"=== RUN   {match['test']}\n")  # where `-v` puts what a test logs
    log = _GO_LOG.search(part) or (_GO_LOG.search(before[2]) if before[1] else None)
    panic = _GO_PANIC.search(part)
    if panic:
        trace = _GO_TRACE.search(part)
    else:
        trace = None
    place = log or trace
    message = ""
    if panic:
        message = f"panic: {panic[1]}"
    elif log:
        message = log["message"]
    return Finding(
        path=place["path"] if place else "",
        span=span(place["line"]) if place else None,
        rule="panic" if panic else "failure",
        severity="error",
        category="test",
        message=message,
        tool="go test",
        test=match["test"],
    )


def maven(output: str) -> Findings:
    """Compiler messages and the list of failed tests at the end."""
    items = []
    for match in _MAVEN_JAVAC.finditer(output):
        items.append(
            Finding(
                path=match["path"],
                span=span(match["line"]),
                column=number(match["column"]),
                rule="compiler",
                severity=severity(match["level"]),
                category="compiler",
                message=match["message"],
                tool="javac",
            )
        )
    items += _maven_tests(output)
    total = _MAVEN_TOTAL.findall(output)
    compiler = len(dict.fromkeys(item for item in items if not item.test))
    if not total:
        return Findings("maven", tuple(dict.fromkeys(items)), None)
    ran, failures, errors, skipped = (int(part) for part in total[-1])
    claimed = failures + errors + compiler
    return Findings(
        tool="maven",
        items=tuple(dict.fromkeys(items)),
        claimed=claimed,
        passed=ran - failures - errors - skipped,
        skipped=skipped,
    )


def _maven_tests(output: str) -> Iterator[Finding]:
    start = output.rfind("] Results:")
    kind = "failure"
    for line in output[start:].split("\n") if start >= 0 else ():
        if line.startswith("[ERROR] Errors:"):
            kind = "error"
        elif match := _MAVEN_TEST.match(line):
            yield Finding(
                path=f"{match['test'].rpartition('.')[0].rpartition('.')[2].split('$')[0]}.java",
                span=span(match["line"]),
                rule=kind,
                severity="error",
                category="test",
                message=match["message"].lstrip("» "),
                tool="surefire",
                test=match["test"],
            )


def gradle(output: str) -> Findings:
    """Compiler messages and failed tests."""
    items = list(javac(output).items)
    for match in _GRADLE_TEST.finditer(output):
        items.append(_gradle_test(match))
    total = _GRADLE_TOTAL.search(output)
    compiler = sum(not item.test for item in items)
    if not total:
        return Findings("gradle", tuple(items), javac(output).claimed)
    ran, failed, skipped = (int(part or 0) for part in total.groups())
    return Findings(
        tool="gradle", items=tuple(items), claimed=failed + compiler, passed=ran - failed - skipped, skipped=skipped
    )


def _gradle_test(match: re.Match[str]) -> Finding:
    wanted = match["class"].rpartition(".")[2].split("$")[0]
    places = _JAVA_PLACE.findall(match[0])
    own = [place for place in places if place[0].startswith(f"{wanted}.")] or places or [("", "")]
    return Finding(
        path=own[0][0],
        span=span(own[0][1]),
        rule="failure",
        severity="error",
        category="test",
        message=re.sub(r" at \S+:\d+$", "", match["message"].strip()),
        tool="gradle test",
        test=f"{match['class']}.{match['test'].strip().removesuffix('()')}",
    )
