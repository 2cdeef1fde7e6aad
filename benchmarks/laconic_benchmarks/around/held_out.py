"""Five more servers, on click, that nothing was tuned on: the facts were written down before an answer was seen."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import zipfile
from html import escape
from pathlib import Path
from typing import Any, Final

from laconic.config import child_environment
from laconic_benchmarks.around.questions import Question

NPM: Final = {"mcp-server-code-runner": "0.1.8", "@mcp-get-community/server-curl": "0.1.0"}
PYPI: Final = {
    "python": ("mcp-alchemy==2026.10.15.202659", "office-word-mcp-server==1.1.11"),
    "index": ("code-index-mcp==2.17.1",),
}
_CLONE: Final = ("pallets+click", "8.1.7")
_FIRST: Final = "874ca2bc1c30d93a4ac6e36a15ed685eafe89097"
_SECOND: Final = "completion(fish): add back ; as line endings in fish script"
_NAMES: Final = ("hash", "author", "date", "subject")
_WORDML: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES: Final = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_LINKS: Final = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
    "</Relationships>"
)
_COUNT_LINES: Final = """
import glob
say = print
total = 0
for path in sorted(glob.glob({place!r} + '/click/src/click/*.py')):
    count = sum(1 for _ in open(path))
    total += count
    say(path, count)
say('total', total)
"""
_LOG: Final = """
say = print
for number in range(1500):
    say(f'2026-05-02T08:{number // 60 % 60:02d}:{number % 60:02d}Z INFO pool-{number % 5} finished job {number * 17}')
    if number == 612:
        say('2026-05-02T08:10:12Z WARN retry 7 of 9 for shard-41')
    if number == 1201:
        say('2026-05-02T08:20:01Z FATAL checksum mismatch in block 5512')
"""
_FAILS: Final = """
def inner(value):
    return 12 / value
def outer():
    return [inner(number) for number in (3, 2, 1, 0)]
outer()
"""


def entries(installed: Path, world: Path) -> dict[str, dict[str, Any]]:
    """The servers as a client's configuration names them."""
    bin_, python = installed / "node_modules" / ".bin", installed / "python" / "bin"
    return {
        "runner": {"command": str(bin_ / "mcp-server-code-runner"), "args": [], "cwd": str(world)},
        "curl": {"command": str(bin_ / "server-curl"), "args": [], "cwd": str(world)},
        "alchemy": {
            "command": str(python / "mcp-alchemy"),
            "args": [],
            "env": {"DB_URL": f"sqlite:///{world}/click.db"},
            "cwd": str(world),
        },
        "index": {"command": str(installed / "index" / "bin" / "code-index-mcp"), "args": [], "cwd": str(world)},
        "word": {"command": str(python / "word_mcp_server"), "args": [], "cwd": str(world)},
    }


def make_world(world: Path, mirror: Path) -> None:
    """The repository, a database of its commits and files, pages, and its list of changes as a document."""
    world.mkdir(parents=True)
    variables = child_environment({"GIT_CONFIG_GLOBAL": "/dev/null"})
    folder, tag = _CLONE

    def call(*words: str) -> str:
        done = subprocess.run(["git", *words], env=variables, check=True, capture_output=True, text=True)
        return done.stdout

    click = world / "click"
    call("clone", "-q", str(mirror / folder / "repo"), str(click))
    call("-C", str(click), "checkout", "-q", tag)
    log = call("-C", str(click), "log", "--format=%H%x09%an%x09%aI%x09%s").splitlines()
    rows = [tuple(row.split("\t", 3)) for row in log]
    base = sqlite3.connect(world / "click.db")
    base.execute("CREATE TABLE commits (hash TEXT, author TEXT, date TEXT, subject TEXT)")
    base.executemany("INSERT INTO commits VALUES (?,?,?,?)", rows)
    base.execute("CREATE TABLE files (path TEXT, size INTEGER)")
    for path in call("-C", str(click), "ls-files").splitlines():
        base.execute("INSERT INTO files VALUES (?,?)", (path, (click / path).lstat().st_size))
    base.commit()
    base.close()
    _write_pages(world / "site", rows)
    _write_document(world / "changes.docx", (click / "CHANGES.rst").read_text().splitlines())


def _write_pages(site: Path, rows: list[tuple[str, ...]]) -> None:
    site.mkdir()
    records = [dict(zip(_NAMES, row, strict=True)) for row in rows]
    (site / "commits.json").write_text(json.dumps({"total": len(records), "commits": records[:300]}))
    (site / "commits.csv").write_text("\n".join(",".join(row) for row in (_NAMES, *rows[:300])))
    cells = []
    for _, author, date, subject in rows[:150]:
        cells.append(f"<tr><td>{escape(author)}</td><td>{date}</td><td>{escape(subject)}</td></tr>")
    head = "<head><title>Commits of click</title><script>var a = 1;</script></head>"
    link = '<p>See <a href="https://click.palletsprojects.com">the documentation</a>.</p>'
    body = f"<h1>Commits of click</h1>{link}<h2>Newest first</h2><table>{''.join(cells)}</table>"
    (site / "page.html").write_text(f"<html>{head}<body>{body}</body></html>")


def _write_document(path: Path, lines: list[str]) -> None:
    """A document with a paragraph for each line."""
    body = "".join(f'<w:p><w:r><w:t xml:space="preserve">{escape(line)}</w:t></w:r></w:p>' for line in lines)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _LINKS)
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{_WORDML}"><w:body>{body}</w:body></w:document>')


def questions(world: str, site: str) -> list[Question]:
    """Calls with the facts that a caller needs from their answers."""
    return [*_ask_index(world), *_ask_runner(world), *_ask_database(), *_ask_pages(site), *_ask_document(world)]


def _ask_index(world: str) -> list[Question]:
    errors = "src/click/exceptions.py"
    return [
        Question("index", "set_project_path", {"path": f"{world}/click"}),
        Question(
            "index",
            "search_code_advanced",
            {"pattern": "class ", "file_pattern": "exceptions.py"},
            ("ClickException", "UsageError", "BadParameter", "NoSuchOption", "FileError"),
        ),
        Question(
            "index",
            "search_code_advanced",
            {"pattern": "UsageError", "max_results": 100},
            (errors, "src/click/core.py"),
        ),
        Question("index", "build_deep_index", {}),
        Question("index", "get_file_summary", {"file_path": errors}, ("288", "ClickException", "BadParameter")),
        Question(
            "index",
            "get_symbol_body",
            {"file_path": errors, "symbol_name": "ClickException"},
            ("exit_code = 1", "def format_message", "def show"),
        ),
    ]


def _ask_runner(world: str) -> list[Question]:
    counted = _COUNT_LINES.format(place=world)
    return [
        Question(
            "runner",
            "run-code",
            {"code": counted, "languageId": "python"},
            ("core.py 3042", "types.py 1089", "utils.py 624", "total 10124"),
        ),
        Question(
            "runner",
            "run-code",
            {"code": _FAILS, "languageId": "python"},
            ("ZeroDivisionError", "division by zero", "in inner"),
        ),
        Question(
            "runner",
            "run-code",
            {"code": _LOG, "languageId": "python"},
            (
                "WARN retry 7 of 9 for shard-41",
                "FATAL checksum mismatch in block 5512",
                "finished job 0",
                "finished job 25483",
            ),
        ),
    ]


def _ask_database() -> list[Question]:
    return [
        Question("alchemy", "all_table_names", {}, ("commits", "files")),
        Question(
            "alchemy", "schema_definitions", {"table_names": ["commits", "files"]}, ("author", "subject", "size")
        ),
        Question(
            "alchemy",
            "execute_query",
            {"query": "SELECT * FROM commits LIMIT 500"},
            (_FIRST, "David Lord", "release version 8.1.7", _SECOND),
        ),
        Question(
            "alchemy",
            "execute_query",
            {"query": "SELECT author, count(*) AS n FROM commits GROUP BY author ORDER BY n DESC"},
            ("David Lord", "671", "593", "Markus Unterwaditzer", "151"),
        ),
        Question("alchemy", "execute_query", {"query": "SELECT * FROM nothing"}, ("nothing",)),
        Question(
            "alchemy",
            "execute_query",
            {"query": "SELECT path, size FROM files ORDER BY size DESC LIMIT 60"},
            ("src/click/core.py",),
        ),
    ]


def _ask_pages(site: str) -> list[Question]:
    return [
        Question("curl", "curl", {"url": f"{site}/commits.json"}, (_FIRST, "David Lord", "2291")),
        Question("curl", "curl", {"url": f"{site}/commits.csv"}, ("hash,author,date,subject", _FIRST, _SECOND)),
        Question(
            "curl",
            "curl",
            {"url": f"{site}/page.html"},
            ("Commits of click", "Newest first", "release version 8.1.7", "https://click.palletsprojects.com"),
        ),
        Question("curl", "curl", {"url": f"{site}/missing"}, ("404",)),
    ]


def _ask_document(world: str) -> list[Question]:
    file = {"filename": f"{world}/changes.docx"}
    heads = (
        "Version 8.1.7",
        "Released 2023-08-17",
        "Fix issue with regex flags in shell completion.",
        "Version 8.1.6",
    )
    return [
        Question("word", "get_document_text", file, heads),
        Question("word", "get_document_info", file, ("paragraph_count",)),
        Question("word", "find_text_in_document", {**file, "text_to_find": "Fish shell"}, ("Fish shell",)),
        Question("word", "get_paragraph_text_from_document", {**file, "paragraph_index": 2}, ("Version 8.1.7",)),
        Question("word", "get_document_outline", file, ("Version 8.1.7",)),
        Question("word", "get_document_xml", file, ("w:document", "Version 8.1.7")),
    ]
