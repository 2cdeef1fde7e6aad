"""Questions in words with known answers: how they are read, asked and scored."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from laconic.errors import Unreadable
from laconic.index.workspace_index import Index
from laconic_benchmarks.report import Options
from laconic_benchmarks.search import run
from laconic_benchmarks.search_questions.documentation import (
    choose_documented,
    find_documented,
    is_removed,
    remove_documentation,
)
from laconic_benchmarks.search_questions.questions import (
    FoundPlace,
    Question,
    Target,
    ndcg,
    part_of,
    rank_targets,
    reciprocal,
)

CODE = '''"""Money."""


def settle(account, amount):
    """Take an amount from the account of a customer and note when it happened.

    Nothing happens twice.
    """
    account.balance -= amount
    return account


class Till:
    """Counts the coins of one working day."""

    coins = 0
'''


def test_a_target_counts_once_at_the_first_hit_that_answers_it() -> None:
    question = Question("?", "semantic", (Target("src/a.py"), Target("b.py", 10, 20), Target("gone.py")))
    places = [
        FoundPlace("other.py", 1, 9),
        FoundPlace("a.py", 1, 2),
        FoundPlace("b.py", 1, 9),
        FoundPlace("b.py", 20, 30),
    ]
    assert rank_targets(places, question) == [2, 4, 0]
    assert reciprocal([2, 4, 0]) == 0.5
    assert ndcg([1, 2, 3]) == pytest.approx(1.0)
    assert ndcg([0, 0, 0]) == 0.0
    assert ndcg([2]) == pytest.approx(0.6309, abs=1e-4)


def test_a_repository_always_has_the_same_part_however_it_is_written() -> None:
    assert part_of("Owner+Name") == part_of("owner+name")
    assert {part_of(f"owner+{number}") for number in range(60)} == {"tune", "choose", "report"}


def test_documentation_becomes_a_question_and_leaves_the_code(tmp_path: Path) -> None:
    root = tmp_path / "code"
    root.mkdir()
    (root / "money.py").write_text(CODE)
    with closing(Index.open(root, tmp_path / "cache")) as index:
        index.build()
        found = find_documented(index.store)
        chosen = choose_documented(found, Random(1), 5)
        assert {each.sentence for each in chosen} == {
            "Take an amount from the account of a customer and note when it happened.",
            "Counts the coins of one working day.",
        }
        remove_documentation(root, found)
        index.build()
        assert all(is_removed(index.store, each) for each in chosen)
    left = (root / "money.py").read_text()
    assert "customer" not in left
    assert len(left.split("\n")) == len(CODE.split("\n"))
    assert "account.balance -= amount" in left


def commit(folder: Path, files: dict[str, str]) -> str:
    """A repository with these files; its commit."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def test_the_public_benchmark_is_read_from_clones_and_scored(tmp_path: Path) -> None:
    """One repository is pinned and there, one is pinned to a commit that its clone lacks."""
    mirror = tmp_path / "clones"
    pinned = commit(mirror / "shop+till" / "repo", {"src/money.py": CODE, "docs/a.md": "# Nothing\n"})
    rows = [
        {"name": "till", "language": "python", "url": "https://github.com/shop/till.git", "revision": pinned}
        | {"benchmark_root": "src"},
        {"name": "away", "language": "python", "url": "https://github.com/shop/till.git", "revision": "0" * 40},
    ]
    asked = [
        {"query": "settle", "relevant": ["money.py"], "category": "symbol"},
        {
            "query": "take money from a customer",
            "relevant": [{"path": "src/money.py", "start_line": 4, "end_line": 6}],
        },
    ]
    written = {
        "benchmarks/repos.json": json.dumps(rows),
        "benchmarks/annotations/till.json": json.dumps(asked),
        "benchmarks/annotations/away.json": "[]",
    }
    commit(mirror / "MinishLab+semble" / "repo", written)
    options = Options(data="", cache=str(tmp_path / "cache"), mirror=str(mirror), public=True)
    report = run(options)
    assert "4 questions on 1 repositories" in report.corpus
    figures = {row["questions"]: row["NDCG@10"] for row in report.rows}
    assert figures["symbol"] == figures["semantic"] == 1.0
    assert sum(int(row["n"] or 0) for row in report.rows if row["questions"] == "documentation") == 2


def test_without_a_clone_of_the_benchmark_the_error_says_what_to_clone(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="MinishLab/semble"):
        run(Options(data="", cache=str(tmp_path), mirror=str(tmp_path), public=True))
