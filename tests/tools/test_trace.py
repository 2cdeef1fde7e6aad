"""Call paths: what `TraceCallPathTool` shows, through interfaces and between names that several symbols share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples import git

from laconic.config import Settings
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools

FILES = {
    "Reporter.java": "abstract class Reporter {\n    void start() { report(); }\n    abstract void report();\n}\n",
    "ConsoleReporter.java": (
        "class ConsoleReporter extends Reporter {\n    void report() { print(); }\n    void print() {}\n}\n"
    ),
    "runner.ts": (
        "export interface Runner {\n  query(sql: string): string\n}\n\n"
        "export class PostgresRunner implements Runner {\n  query(sql: string): string {\n    return sql\n  }\n}\n\n"
        'export function load(runner: Runner): string {\n  return runner.query("x")\n}\n'
    ),
    "store.go": (
        "package store\n\ntype Saver interface{ Save() }\n\ntype Disk struct{}\n\nfunc (d *Disk) Save() { flush() }\n\n"
        "func flush() {}\n\nfunc keep(s Saver) { s.Save() }\n"
    ),
    "Close.java": (
        "class Door {\n    void leave() { shut(); }\n    void shut() { turnKey(); }\n    void turnKey() {}\n}\n"
    ),
    "close.py": "def shut():\n    turn_key()\n\n\ndef turn_key():\n    pass\n",
}


@pytest.fixture
def runtime(tmp_path: Path, settings: Settings) -> Iterator[ToolRuntime]:
    for path, text in FILES.items():
        (tmp_path / path).write_text(text)
    git(tmp_path, "init", "-q")
    opened = ToolRuntime(tmp_path, settings, tools())
    opened.index.build()
    yield opened
    opened.close()


def trace(runtime: ToolRuntime, start: str, end: str) -> str:
    return runtime.call("trace", {"symbol": start, "to": end}).text


@pytest.mark.feature("U5")
@pytest.mark.parametrize(
    ("start", "through", "end"),
    [
        ("Reporter.start", "Reporter.report Reporter.java:3", "ConsoleReporter.report ConsoleReporter.java:2"),
        ("load", "Runner.query runner.ts:2", "PostgresRunner.query runner.ts:6"),
        ("keep", "Saver.Save store.go:3", "Disk.Save store.go:7"),
    ],
    ids=["java", "typescript", "go"],
)
def test_a_path_leads_through_what_a_call_names_to_what_may_run(
    runtime: ToolRuntime, start: str, through: str, end: str
) -> None:
    assert f"{through} -> ? {end}" in trace(runtime, start, end.split(maxsplit=1)[0])
    assert f"1? {start}" in runtime.call("trace", {"symbol": end.split(maxsplit=1)[0]}).text  # and back


@pytest.mark.feature("U5")
def test_paths_go_on_behind_an_override(runtime: ToolRuntime) -> None:
    assert "-> ? ConsoleReporter.report ConsoleReporter.java:2 -> ConsoleReporter.print" in trace(
        runtime, "Reporter.start", "ConsoleReporter.print"
    )


@pytest.mark.feature("U5")
def test_of_several_symbols_of_a_name_those_with_a_path_are_taken(runtime: ToolRuntime) -> None:
    assert "Door.leave Close.java:2 -> Door.shut Close.java:3" in trace(runtime, "leave", "shut")


@pytest.mark.feature("U5")
def test_other_symbols_of_the_name_are_told(runtime: ToolRuntime) -> None:
    text = runtime.call("trace", {"symbol": "shut"}).text
    assert "(name one as path:line)" in text
    for place in ("Close.java:3", "close.py:1"):
        assert place in text
