"""A reduced patch is still a patch: it applies, or whole hunks are missing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laconic.reduce.text import detect, reduce_text
from laconic.reduce.text.patches import HUNK
from laconic.tokens.count import counter

COST = counter()


def git(folder: Path, *args: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *args]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def bad_hunks(text: str) -> list[str]:
    """Hunks whose header does not count their lines."""
    lines = text.split("\n")
    wrong = []
    for index, line in enumerate(lines):
        if not (found := HUNK.match(line)):
            continue
        old, new = int(found[2] or 1), int(found[4] or 1)
        for inner in lines[index + 1 :]:
            if old <= 0 and new <= 0:
                break
            old -= inner[:1] in {" ", "-", ""}
            new -= inner[:1] in {" ", "+", ""}
        if old or new:
            wrong.append(line)
    return wrong


EDITS = st.lists(
    st.tuples(st.integers(0, 119), st.sampled_from(["drop", "add", "change", "double"])), min_size=1, max_size=14
)


def edited(lines: list[str], edits: list[tuple[int, str]]) -> list[str]:
    new: list[str | None] = list(lines)
    extra: dict[int, list[str]] = {}
    for at, what in edits:
        if what == "drop":
            new[at] = None
        elif what == "change":
            new[at] = f"changed {at}"
        else:
            extra.setdefault(at, []).extend([f"added {at}"] * (2 if what == "double" else 1))
    return [row for i, line in enumerate(new) for row in ([] if line is None else [line]) + extra.get(i, [])]


@given(EDITS, EDITS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_reduced_patch_applies_and_gives_the_same_files(
    tmp_path_factory: pytest.TempPathFactory, first: list[tuple[int, str]], second: list[tuple[int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("patch")
    git(folder, "init", "-q")
    lines = [f"line {n % 7}" if n % 3 else "" for n in range(120)]
    for name, edits in (("a.txt", first), ("b/c.txt", second)):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        git(folder, "add", name)
        path.write_text("\n".join(edited(lines, edits)) + ("\n" if len(edits) % 2 else ""))
    wanted = [(folder / name).read_text() for name in ("a.txt", "b/c.txt")]
    patch = git(folder, "diff").stdout
    if not patch:
        return
    view = reduce_text(patch, cost=COST).text
    git(folder, "checkout", "-q", ".")
    applied = git(folder, "apply", "-", stdin=view + "\n")
    assert applied.returncode == 0, applied.stderr + view
    assert [(folder / name).read_text() for name in ("a.txt", "b/c.txt")] == wanted


@given(EDITS, st.integers(30, 400))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_patch_over_its_budget_loses_whole_hunks_and_says_so(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, str]], budget: int
) -> None:
    folder = tmp_path_factory.mktemp("patch")
    git(folder, "init", "-q")
    lines = [f"some longer line with number {n}" for n in range(120)]
    (folder / "a.txt").write_text("\n".join(lines) + "\n")
    git(folder, "add", "a.txt")
    (folder / "a.txt").write_text("\n".join(edited(lines, edits)) + "\n")
    patch = git(folder, "diff").stdout
    view = reduce_text(patch, cost=COST, budget=budget).text
    assert COST(view) <= budget
    if view.split("\n")[-2:-1] and view.split("\n")[-2].endswith("…"):
        return  # not even one hunk fits
    assert not bad_hunks(view)
    git(folder, "checkout", "-q", ".")
    if "@@ -" in view:
        assert git(folder, "apply", "-", stdin=view + "\n").returncode == 0, view


def test_a_log_with_patches_keeps_each_commit_and_each_change() -> None:
    header = "commit {sha}\nAuthor: Ada <ada@example.org>\nDate:   Wed Aug 5 07:12:56 2026 -0700\n\n    {subject}\n\n"
    hunk = (
        "diff --git a/{p} b/{p}\nindex 376bc85..96cd01e 100644\n--- a/{p}\n+++ b/{p}\n@@ -10,7 +10,7 @@ def f():\n"
        " one\n two\n three\n-old {p}\n+new {p}\n four\n five\n six\n"
    )
    text = "\n".join(
        header.format(sha=f"{n:x}" * 40, subject=f"Change number {n}") + hunk.format(p=f"src/m{n}.py")
        for n in range(1, 9)
    )
    assert detect(text) == "patch"
    view = reduce_text(text, cost=COST).text
    for n in range(1, 9):
        assert re.search(rf"commit {n}{{12}}, Ada, .*\n  Change number {n}\n", view)
        assert f"-old src/m{n}.py\n+new src/m{n}.py" in view
    assert " two" not in view
    assert not bad_hunks(view)
