"""Seven servers that nobody looked at while the reducers were written, on real material: Flask and express.

The facts come from the repositories, by git and ripgrep, and were written down before an answer was seen.
"""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path
from typing import Any, Final

from laconic.config import child_environment
from laconic_benchmarks.around.questions import Question

NPM: Final = {
    "@cyanheads/git-mcp-server": "2.15.3",
    "mcp-ripgrep": "0.4.0",
    "@eslint/mcp": "0.3.13",
    "mcp-server-commands": "0.5.0",
    "repomix": "1.18.1",
}
PYPI: Final = {"python": ("mcp-server-motherduck==1.1.0", "excel-mcp-server==2.2.2")}
_CLONES: Final = {"flask": ("pallets+flask", "3.0.0"), "express": ("expressjs+express", "4.18.2")}
_RULES: Final = """\
module.exports = [{ files: ["**/*.js"], languageOptions: { sourceType: "commonjs" },
  rules: { "no-var": "error", "eqeqeq": "error", "no-undef": "error", "no-unused-vars": "error" } }];
"""
_TESTS: Final = """\
import unittest
class Prices(unittest.TestCase):
    def test_total(self):
        self.assertEqual(sum([12, 30]), 43)
    def test_missing(self):
        {}['sku-118']
for number in range(60):
    setattr(Prices, f'test_row_{number}', lambda self: None)
"""


def entries(installed: Path, world: Path) -> dict[str, dict[str, Any]]:
    """The servers as a client's configuration names them."""
    bin_, python = installed / "node_modules" / ".bin", installed / "python" / "bin"
    duckdb = ["--db-path", ":memory:", "--read-write", "--allow-switch-databases"]
    found: dict[str, dict[str, Any]] = {
        "ripgrep": {"command": str(bin_ / "mcp-ripgrep"), "args": []},
        "git": {"command": str(bin_ / "git-mcp-server"), "args": [], "env": {"LOGS_DIR": str(world / "logs")}},
        "commands": {"command": str(bin_ / "mcp-server-commands"), "args": []},
        "duckdb": {"command": str(python / "mcp-server-motherduck"), "args": duckdb},
        "excel": {"command": str(python / "excel-mcp-server"), "args": ["stdio"]},
        "eslint": {"command": str(bin_ / "mcp"), "args": [], "cwd": str(world / "express")},
        "repomix": {"command": str(bin_ / "repomix"), "args": ["--mcp"]},
    }
    for entry in found.values():
        entry.setdefault("cwd", str(world))
    return found


def make_world(world: Path, mirror: Path) -> None:
    """Both repositories, a table of Flask's commits, rules for eslint, tests that fail."""
    world.mkdir(parents=True)
    variables = child_environment({"GIT_CONFIG_GLOBAL": "/dev/null"})
    for name, (folder, tag) in _CLONES.items():
        clone = ["git", "clone", "-q", str(mirror / folder / "repo"), str(world / name)]
        subprocess.run(clone, env=variables, check=True, capture_output=True)
        checkout = ["git", "-C", str(world / name), "checkout", "-q", tag]
        subprocess.run(checkout, env=variables, check=True, capture_output=True)
    listed = subprocess.run(
        ["git", "-C", str(world / "flask"), "log", "--format=%H%x09%an%x09%aI%x09%s"],
        env=variables,
        check=True,
        capture_output=True,
        text=True,
    )
    with (world / "commits.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("hash", "author", "date", "subject"))
        writer.writerows(row.split("\t", 3) for row in listed.stdout.splitlines())
    (world / "express" / "eslint.config.js").write_text(_RULES)
    (world / "test_prices.py").write_text(_TESTS)
    readme = world / "flask" / "README.rst"
    readme.write_text(readme.read_text() + "\nOne more line.\n")


def questions(world: str) -> list[Question]:
    """Calls with the facts that a caller needs from their answers."""
    return [*_ask_code(world), *_ask_history(world), *_ask_tables(world), *_ask_programs(world)]


def _ask_code(world: str) -> list[Question]:
    source = f"{world}/flask/src/flask"
    loaders = tuple(f"def from_{one}" for one in ("envvar", "prefixed_env", "pyfile", "object", "file", "mapping"))
    return [
        Question("ripgrep", "search", {"pattern": "def from_", "path": source}, (*loaders, "config.py")),
        Question(
            "ripgrep",
            "search",
            {"pattern": "raise RuntimeError", "path": source, "context": 3},
            (
                "'static_folder' must be set to serve static_files.",
                "Session backend did not open a session.",
                "Cannot nest client invocations",
                "'stream_with_context' can only be used when a request",
                "No root path can be found for the provided module",
                "'after_this_request' can only be used when a request",
                "The session is unavailable because no secret",
            ),
        ),
        Question(
            "ripgrep",
            "count-matches",
            {"pattern": "^import|^from", "path": source},
            ("app.py:51", "cli.py:20", "sansio/app.py:31", "helpers.py:17", "__init__.py:41"),
        ),
        Question("ripgrep", "list-files", {"path": source}, ("globals.py", "sansio/scaffold.py", "json/tag.py")),
        Question(
            "ripgrep",
            "search",
            {"pattern": "self", "path": f"{world}/flask/src"},
            ("src/flask/app.py", "src/flask/sansio/scaffold.py", "src/flask/testing.py"),
        ),
        Question(
            "repomix",
            "pack_codebase",
            {"directory": f"{world}/flask/src", "topFilesLength": 5},
            ("flask/sansio/app.py", "flask/app.py", "flask/cli.py"),
        ),
    ]


def _ask_history(world: str) -> list[Question]:
    flask = f"{world}/flask"
    subjects = (
        "Release version 3.0.0",
        "Bump Werkzeug 3.0.0",
        "Allow self as an argument to url_for",
        "Fix wrong spelling of JS method .innerHTML",
    )
    return [
        Question("git", "git_log", {"path": flask, "maxCount": 40}, (*subjects, "pgjones", "735a4701", "efe39ae5")),
        Question("git", "git_log", {"path": flask, "maxCount": 15, "stat": True}, (*subjects[:3], "CHANGES.rst")),
        Question(
            "git",
            "git_diff",
            {"path": flask, "target": "2.3.3", "source": "3.0.0", "stat": True},
            ("src/flask/sansio/app.py", "src/flask/globals.py", "tests/test_helpers.py", "1792"),
        ),
        Question(
            "git",
            "git_diff",
            {"path": flask, "target": "2.3.3", "source": "3.0.0", "paths": ["src/flask/globals.py"]},
            ("class _FakeStack", "__app_ctx_stack = _FakeStack(", "def __getattr__(name: str)"),
        ),
        Question(
            "git",
            "git_blame",
            {"path": flask, "filePath": "src/flask/globals.py"},
            ("44ffe6c6d"[:7], "from contextvars import ContextVar", "David Lord"),
        ),
        Question(
            "git", "git_show", {"path": flask, "object": "735a4701"}, (subjects[0], "pgjones", "pyproject.toml")
        ),
        Question("git", "git_status", {"path": flask}, ("README.rst",)),
        Question("git", "git_tag", {"path": flask, "mode": "list", "limit": 60}, ("3.0.0", "2.3.3")),
        Question("git", "git_show", {"path": flask, "object": "no-such-ref"}, ("no-such-ref",)),
    ]


def _ask_tables(world: str) -> list[Question]:
    table, book = f"{world}/commits.csv", f"{world}/commits.xlsx"
    authors = "SELECT author, count(*) AS n FROM read_csv('{}') GROUP BY 1 ORDER BY 2 DESC"
    first = "735a4701d6d5e848241e7d7535db898efb62d400"
    return [
        Question(
            "duckdb",
            "execute_query",
            {"sql": f"SELECT * FROM read_csv('{table}') LIMIT 800"},
            (first, "pgjones", "Bump Werkzeug 3.0.0", "author", "subject"),
        ),
        Question(
            "duckdb",
            "execute_query",
            {"sql": authors.format(table)},
            ("David Lord", "1540", "Armin Ronacher", "1191", "Markus Unterwaditzer", "274"),
        ),
        Question("duckdb", "execute_query", {"sql": f"SELECT nope FROM read_csv('{table}')"}, ("nope",)),
        Question("excel", "create_workbook", {"path": book, "sheets": ["Commits"], "overwrite": True}, ()),
        Question("excel", "import_csv", {"path": book, "csv_path": table, "sheet": "Commits"}, ()),
        Question(
            "excel",
            "read_range",
            {"path": book, "sheet": "Commits", "range": "A1:D300"},
            (first, "pgjones", "Bump Werkzeug 3.0.0", "subject"),
        ),
        Question("excel", "describe_workbook", {"path": book}, ("Commits", "5174")),
        Question(
            "excel",
            "find_cells",
            {"path": book, "query": "Markus Unterwaditzer", "sheet": "Commits", "max_results": 200},
            ("Markus Unterwaditzer", "Commits"),
        ),
    ]


def _ask_programs(world: str) -> list[Question]:
    library = f"{world}/express/lib"
    linted = [f"{library}/{name}.js" for name in ("application", "express", "request", "response", "utils", "view")]
    listing = "python3 -m unittest -v test_prices"
    return [
        Question(
            "commands",
            "run_command",
            {"command": "cat flask/CHANGES.rst", "workdir": world},
            (
                "Version 3.0.0",
                "Released 2023-09-30",
                "Remove previously deprecated code. :pr:`5223`",
                "Version 2.3.3",
            ),
        ),
        Question(
            "commands",
            "run_command",
            {"command": listing, "workdir": world},
            ("test_total", "42 != 43", "test_missing", "KeyError: 'sku-118'", "Ran 62 tests", "failures=1, errors=1"),
        ),
        Question(
            "commands",
            "run_command",
            {"command": "git -C flask log --stat -25", "workdir": world},
            ("735a4701d6d5e848241e7d7535db898efb62d400", "Release version 3.0.0", "CHANGES.rst"),
        ),
        Question(
            "commands",
            "run_command",
            {"command": "python3 -c \"raise ValueError('boom 41')\"", "workdir": world},
            ("ValueError: boom 41",),
        ),
        Question(
            "eslint",
            "lint-files",
            {"filePaths": linted},
            ("application.js", "response.js", "utils.js", "no-var", "Unexpected var, use let or const instead."),
        ),
    ]
