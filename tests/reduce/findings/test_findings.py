"""Outputs of real tools, run on real and small projects, and what must be found in them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.errors import UsageError
from laconic.records import Finding, Span
from laconic.reduce.findings import read

CORPUS = Path(__file__).parents[2] / "corpus" / "reports"
EXPECTED = {
    "cargo.check.jsonl": ("rustc", 2),
    "cargo.check.txt": ("cargo", 2),
    "cargo.clippy.txt": ("cargo", 22),
    "cargo.test.txt": ("cargo", 2),
    "checkstyle.xml": ("checkstyle", 11),
    "eslint.json": ("eslint", 26),
    "eslint.txt": ("eslint", 34),
    "eslint.unix.txt": ("eslint", 26),
    "go.test.cobra.jsonl": ("go", 1),
    "go.test.cobra.txt": ("go", 1),
    "go.test.jsonl": ("go", 2),
    "go.test.panic.txt": ("go", 3),
    "go.test.txt": ("go", 4),
    "go.test.v.txt": ("go", 2),
    "go.vet.pflag.txt": ("go", 1),
    "go.vet.txt": ("go", 3),
    "gradle.compile.txt": ("gradle", 9),
    "gradle.junit.xml": ("junit", 2),
    "gradle.test.txt": ("gradle", 20),
    "javac.txt": ("javac", 20),
    "maven.compile.txt": ("maven", 1),
    "maven.compile2.txt": ("maven", 2),
    "maven.test.txt": ("maven", 2),
    "maven.warnings.txt": ("maven", 7),
    "mypy.jsonl": ("mypy", 7),
    "mypy.txt": ("mypy", 19),
    "pmd.txt": ("pmd", 22),
    "pmd.xml": ("pmd", 22),
    "pyright.json": ("pyright", 7),
    "pyright.txt": ("pyright", 8),
    "pytest.junit.xml": ("junit", 7),
    "pytest.quiet.txt": ("pytest", 2),
    "pytest.txt": ("pytest", 7),
    "ruff.concise.txt": ("ruff", 21),
    "ruff.full.txt": ("ruff", 3),
    "ruff.json": ("ruff", 5),
    "ruff.sarif": ("ruff", 5),
    "spotbugs.xml": ("spotbugs", 7),
    "surefire.junit.xml": ("junit", 2),
    "tsc.pretty.txt": ("tsc", 33),
    "tsc.txt": ("tsc", 33),
}


def sample(name: str) -> str:
    return (CORPUS / name).read_text("utf-8")


@pytest.mark.feature("J4", "J10")
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_finding_is_found_and_the_tool_counts_the_same(name: str) -> None:
    found = read(sample(name))
    assert (found.tool, len(found.items)) == EXPECTED[name]
    assert found.claimed in {None, len(found.items)}
    assert all(item.severity in {"error", "warning", "info"} and (item.message or item.test) for item in found.items)


def test_every_sample_is_expected() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ruff.json", "ruff.sarif"),
        ("eslint.json", "eslint.unix.txt"),
        ("tsc.txt", "tsc.pretty.txt"),
        ("go.test.jsonl", "go.test.v.txt"),
    ],
)
def test_two_forms_of_one_run_say_the_same(one: str, other: str) -> None:
    def places(name: str) -> list[tuple[str, int, str]]:
        items = read(sample(name)).items
        return [(item.path.rpartition("/")[2], item.span.start if item.span else 0, item.rule) for item in items]

    assert sorted(places(one)) == sorted(places(other))


@pytest.mark.feature("J4")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ruff.json", {"path": "/home/dev/requests/src/requests/adapters.py", "rule": "S101", "category": "S"}),
        ("mypy.txt", {"path": "src/requests/help.py", "span": Span(31, 31), "rule": "no-redef"}),
        ("pyright.txt", {"rule": "reportMissingImports", "span": Span(20, 20), "column": 12, "severity": "error"}),
        ("eslint.txt", {"path": "/home/dev/express/lib/view.js", "rule": "no-var", "severity": "error"}),
        ("tsc.txt", {"path": "src/lib/strategies/utils.ts", "span": Span(2, 2), "column": 29, "rule": "TS2307"}),
        (
            "cargo.check.txt",
            {"path": "src/lib.rs", "span": Span(10, 10), "rule": "E0308", "message": "mismatched types"},
        ),
        ("cargo.test.txt", {"test": "tests::adds", "path": "src/lib.rs", "span": Span(24, 24), "category": "test"}),
        ("cargo.test.txt", {"severity": "warning", "rule": "unused_variables", "span": Span(9, 9)}),
        ("go.vet.txt", {"path": "a.go", "span": Span(15, 15), "message": "unreachable code"}),
        ("go.test.txt", {"test": "TestSub/inner", "path": "a_test.go", "span": Span(14, 14), "message": "stop"}),
        ("go.test.panic.txt", {"test": "TestPanic", "rule": "panic", "span": Span(7, 7)}),
        ("maven.test.txt", {"test": "BoxTest.fails", "span": Span(16, 16), "rule": "failure"}),
        ("maven.compile2.txt", {"path": "/home/dev/demo/src/main/java/demo/Box.java", "span": Span(13, 13)}),
        ("surefire.junit.xml", {"test": "demo.BoxTest.breaks", "rule": "error", "span": Span(21, 21)}),
        ("pytest.junit.xml", {"rule": "error", "test": "tests.test_more.test_needs"}),
        ("pytest.txt", {"test": "test_param[2]", "span": Span(25, 25), "message": "AssertionError: only one"}),
        ("checkstyle.xml", {"rule": "LineLength", "category": "sizes", "span": Span(37, 37)}),
    ],
)
def test_a_finding_has_its_place_rule_and_reason(name: str, expected: dict[str, object]) -> None:
    items = read(sample(name)).items
    assert any(all(getattr(item, key) == value for key, value in expected.items()) for item in items)


def test_passed_and_skipped_tests_are_counted() -> None:
    assert (read(sample("pytest.txt")).passed, read(sample("pytest.txt")).skipped) == (23, 1)
    assert (read(sample("surefire.junit.xml")).passed, read(sample("surefire.junit.xml")).skipped) == (1, 1)
    assert (read(sample("cargo.test.txt")).passed, read(sample("cargo.test.txt")).skipped) == (1, 1)


SPOTBUGS = """<BugCollection><BugInstance type="NP_ALWAYS_NULL" priority="1" category="CORRECTNESS">
<ShortMessage>Null</ShortMessage><LongMessage>Null pointer in demo.Box.length()</LongMessage>
<Class classname="demo.Box"><SourceLine start="3" end="14" sourcepath="demo/Box.java"/></Class>
<SourceLine classname="demo.Box" start="13" end="13" sourcepath="demo/Box.java"/></BugInstance>
<FindBugsSummary total_bugs="1"/></BugCollection>"""
PMD = """<?xml version="1.0"?><pmd xmlns="http://pmd.sourceforge.net/report/2.0.0"><file name="src/Box.java">
<violation beginline="5" endline="5" begincolumn="15" rule="UnusedPrivateField" ruleset="Best Practices" priority="3">
Avoid unused private fields such as 'unused'.
</violation></file></pmd>"""
GRADLE = """> Task :compileJava
> Task :test FAILED

demo.BoxTest > fails() FAILED
    org.opentest4j.AssertionFailedError at BoxTest.java:16

4 tests completed, 1 failed, 1 skipped
"""


NULL = "Null pointer in demo.Box.length()"
UNUSED = "Avoid unused private fields such as 'unused'."
TEST = "demo.BoxTest.fails"
FAILED = "org.opentest4j.AssertionFailedError"


@pytest.mark.feature("J10")
@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            SPOTBUGS,
            Finding("demo/Box.java", "NP_ALWAYS_NULL", "error", "CORRECTNESS", NULL, "spotbugs", Span(13, 13)),
        ),
        (
            PMD,
            Finding("src/Box.java", "UnusedPrivateField", "warning", "Best Practices", UNUSED, "pmd", Span(5, 5), 15),
        ),
        (GRADLE, Finding("BoxTest.java", "failure", "error", "test", FAILED, "gradle test", Span(16, 16), 0, TEST)),
    ],
    ids=["spotbugs", "pmd", "gradle"],
)
def test_formats_after_their_documentation(output: str, expected: Finding) -> None:
    """No tool was at hand that writes these: the samples follow the published schemas."""
    found = read(output)
    assert found.items == (expected,)
    assert found.claimed in {None, 1}


@pytest.mark.parametrize(
    "output",
    [
        '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><testsuite><testcase name="&c;"/></testsuite>',
        "<testsuite><testcase",
        "<html/>",
        '{"some": "json"}',
        "[1, 2]",
        "prose that no tool wrote",
        "a\0b",
    ],
)
def test_what_cannot_be_read_is_an_error_that_says_what_can(output: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(output)
    assert caught.value.fix


def test_an_empty_output_is_no_finding() -> None:
    assert read("").items == ()
    assert read("All checks passed!\n").items == ()


def test_a_very_long_line_takes_no_long_time() -> None:
    assert read("✖ 1 problem\n" + "  1:1  error  x" + " " * 300_000 + "y\n").tool == "eslint"


@given(
    st.text(max_size=300)
    | st.sampled_from(sorted(EXPECTED)).flatmap(lambda name: st.integers(0, 4000).map(lambda n: sample(name)[:n]))
)
def test_no_output_breaks_a_parser(output: str) -> None:
    """Cut outputs and nonsense are read as far as they go, or refused."""
    with suppress(UsageError):
        read(output)


def test_what_gradle_writes_before_a_path_is_not_part_of_it() -> None:
    paths = {item.path for item in read(sample("gradle.test.txt")).items if not item.test}
    assert all(path.startswith("/home/dev/gson/src/") for path in paths)


def test_the_text_of_pmd_names_the_rules_and_clippy_its_lints() -> None:
    both = {name: {item.rule for item in read(sample(name)).items} for name in ("pmd.txt", "pmd.xml")}
    assert both["pmd.txt"] == both["pmd.xml"]
    lints = {item.rule for item in read(sample("cargo.clippy.txt")).items}
    assert lints == {"clippy::needless_doctest_main", "clippy::cast_sign_loss"}
