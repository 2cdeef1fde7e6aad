"""Simulated agents: turns, calls, tokens of every prompt and what was seen, on a small real repository."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from laconic.render.table import Cell
from laconic_benchmarks import turns
from laconic_benchmarks.report import Options, Report
from laconic_benchmarks.snapshot import Snapshot
from laconic_benchmarks.turns.code_plane import outlined

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
POLICIES = ("native, careful", "native, naive", "code plane, in steps", "code plane, at once")
QUERY = "Invoice total is rounded before the discount is applied\n\nThe discount must come first, then rounding."


def _git(*args: str, cwd: Path) -> str:
    return subprocess.run(["git", *IDENTITY, *args], cwd=cwd, check=True, capture_output=True, text=True).stdout


def _module(number: int) -> str:
    """A module of functions, each of which has a word of the task and little to do with it."""
    body = "\n".join(f"    step{line} = order.part{line} + {line}" for line in range(40))
    return "\n\n".join(
        f'def handle_{word}_{number}(order):\n    """Work on the {word} of an order."""\n{body}\n    return step1\n'
        for word in ("invoice", "total", "rounded", "rounding", "discount", "applied", "must")
    )


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A bare clone of a repository with one function that is meant, and the commit."""
    base = tmp_path_factory.mktemp("mirror")
    work = base / "work"
    (work / "shop").mkdir(parents=True)
    for number in range(12):
        (work / "shop" / f"part{number}.py").write_text(_module(number))
    (work / "shop" / "sums.py").write_text(
        "def settle(invoice):\n"
        '    """The total of an invoice, rounded, with its discount: rounding must be applied."""\n'
        "    total = sum(invoice.lines)\n"
        "    rounded = round(total)\n"
        "    discount = invoice.discount\n"
        "    return rounded - discount\n"
    )
    _git("init", cwd=work)
    _git("add", ".", cwd=work)
    _git("commit", "-m", "one", cwd=work)
    (base / "clones" / "own+er").mkdir(parents=True)
    _git("clone", "--bare", str(work), str(base / "clones" / "own+er" / "repo"), cwd=base)
    return base / "clones", _git("rev-parse", "HEAD", cwd=work).strip()


def _report(folder: Path, mirror: tuple[Path, str], path: str = "shop/sums.py", name: str = "settle") -> Report:
    clones, commit = mirror
    task = {
        **{"id": "1", "family": "issue", "mirror": "own+er", "parent_sha": commit, "query": QUERY, "flags": {}},
        **{"langs": ["python"], "files": [{"path": path, "edits": [[4, 6]]}]},
        "functions": [{"path": path, "name": name, "start": 1, "end": 6}],
    }
    (folder / "localisation").mkdir(parents=True, exist_ok=True)
    (folder / "localisation" / "public.jsonl").write_text(json.dumps(task) + "\n")
    return turns.run(Options(str(folder), str(folder / "cache"), mirror=str(clones)))


def _rows(report: Report, tasks: str) -> dict[str, dict[str, Cell]]:
    return {str(row["policy"]): row for row in report.rows if row["tasks"] == tasks}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, mirror: tuple[Path, str]) -> Report:
    return _report(tmp_path_factory.mktemp("data"), mirror)


@pytest.mark.feature("C13")
def test_the_code_plane_needs_fewer_turns_and_fewer_prompt_tokens_for_the_same_recall(report: Report) -> None:
    rows = _rows(report, "all")
    careful, ours = rows["native, careful"], rows["code plane, in steps"]
    assert 1.0 == float(ours["functions"] or 0) >= float(careful["functions"] or 0)
    assert float(ours["turns"] or 0) < float(careful["turns"] or 0)
    assert float(ours["sum of prompts"] or 0) < float(careful["sum of prompts"] or 0)


@pytest.mark.feature("C13")
def test_the_parts_are_told_apart(report: Report) -> None:
    """Turns, calls a turn, tokens a prompt, the fixed cost and the sum stand in the table, by policy and language."""
    for tasks in ("all", "python"):
        rows = _rows(report, tasks)
        assert tuple(rows) == POLICIES
        for row in rows.values():
            turns_taken = float(row["turns"] or 0)
            assert turns_taken >= 2
            assert float(row["calls a turn"] or 0) >= 1
            assert float(row["tokens a prompt"] or 0) * turns_taken == pytest.approx(
                float(row["sum of prompts"] or 0)
            )
            assert float(row["tokens a prompt"] or 0) > float(row["fixed"] or 0) > 0
    ours, native = _rows(report, "all")["code plane, in steps"], _rows(report, "all")["native, careful"]
    assert float(ours["fixed"] or 0) > float(native["fixed"] or 0)


def test_the_truth_changes_no_decision(report: Report, tmp_path: Path, mirror: tuple[Path, str]) -> None:
    """The same task with another answer costs every policy the same after each turn; only what was seen differs."""
    other = _report(tmp_path, mirror, "shop/part3.py", "handle_total_3")
    spent = [[row["tasks"], row["sum of prompts"]] for row in report.rows if "after turn" in str(row["tasks"])]
    assert spent == [[row["tasks"], row["sum of prompts"]] for row in other.rows if "after turn" in str(row["tasks"])]
    assert len(spent) > len(POLICIES)


def test_the_code_plane_goes_on_as_long_as_the_shell(report: Report) -> None:
    """After its first answer it reads what was only named, so that nobody is cheap by giving up early."""
    last = {policy: int(_rows(report, "after turn 3")[policy]["n"] or 0) for policy in POLICIES}
    assert last == dict.fromkeys(POLICIES, 1)


def test_a_kept_snapshot_is_laid_out_again_only_where_it_differs(tmp_path: Path, mirror: tuple[Path, str]) -> None:
    clones, commit = mirror
    work = tmp_path / "work"
    Snapshot.kept(clones / "own+er" / "repo", work).show(commit)
    file = work / "code" / "shop" / "sums.py"
    before = file.stat().st_mtime_ns
    again = Snapshot.kept(clones / "own+er" / "repo", work)
    again.show(commit)
    assert file.stat().st_mtime_ns == before
    assert again.lines("shop/sums.py")[0] == "def settle(invoice):"


def test_a_snapshot_that_was_left_half_way_starts_afresh(tmp_path: Path, mirror: tuple[Path, str]) -> None:
    clones, commit = mirror
    work = tmp_path / "work"
    (work / "code").mkdir(parents=True)
    (work / "code" / "stray.py").write_text("x = 1\n")
    Snapshot.kept(clones / "own+er" / "repo", work).show(commit)
    assert not (work / "code" / "stray.py").exists()


def test_an_outline_shows_definitions_where_they_stand() -> None:
    """Below a decorator, without the colon, with the signature in one line: at the line that defines."""
    source = [
        "@cached",
        "def total(",
        "    lines,",
        "):",
        "    return 1",
        "class Bill:",
        "    def pay(self):",
        "        pass",
    ]
    outline = "[a.py#1a2b3c 8 lines]\n1-5 def total(lines)\n6-8 class Bill\n  7-8 def pay(self)\n  9 nothing = 1\n"
    shown = list(outlined(outline, lambda path: source if path == "a.py" else []))
    assert [(line.path, line.number, line.text) for line in shown] == [
        ("a.py", 2, "def total("),
        ("a.py", 6, "class Bill:"),
        ("a.py", 7, "def pay(self):"),
    ]
