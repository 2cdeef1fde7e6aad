"""The commands `reduce`, `run` and `recall`, driven as programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from laconic.config import load
from laconic.sessions.archive import Archive


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "LACONIC_CACHE_DIR": str(tmp_path / "cache"), "LACONIC_CONFIG": str(tmp_path / "none.toml")}


def laconic(environment: dict[str, str], *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "laconic", *args], input=stdin, capture_output=True, env=environment, check=False
    )


NOISY = """
import sys
for n in range(3000): print('2024-01-02 03:04:05 INFO step', n)
print('error: no space left')
sys.exit(3)
"""


def test_reduce_is_a_filter(environment: dict[str, str]) -> None:
    log = "\n".join(f"2024-01-02 03:04:05 INFO step {n}" for n in range(2000)) + "\nERROR broken pipe\n"
    done = laconic(environment, "reduce", stdin=log.encode())
    assert done.returncode == 0
    assert b"ERROR broken pipe" in done.stdout
    assert len(done.stdout) < 1_000


def test_reduce_keeps_a_budget_and_tells_its_figures(environment: dict[str, str]) -> None:
    prose = " ".join(f"word{n}" for n in range(3000)).replace("0 ", "0\n").encode()
    done = laconic(environment, "reduce", "--json", "--budget", "100", stdin=prose + b"\xff\x00")
    facts = msgspec.json.decode(done.stdout)
    assert facts["tokens"][0] <= 100 < facts["tokens"][1]
    assert facts["text"]


def test_run_keeps_the_exit_code_and_the_whole_output(environment: dict[str, str]) -> None:
    done = laconic(environment, "run", "--", sys.executable, "-c", NOISY)
    shown = done.stdout.decode()
    assert done.returncode == 3
    assert "error: no space left" in shown
    assert shown.endswith("[exit code 3]\n")
    ref = shown.split("laconic recall ")[1].split("]")[0]
    whole = laconic(environment, "recall", ref).stdout.decode()
    assert whole.count("INFO step") == 3000
    assert laconic(environment, "recall", ref, "--lines", "10-11").stdout.decode().split("\n")[0].endswith("step 9")
    assert laconic(environment, "recall", ref, "--grep", "no space").stdout.decode() == "3001: error: no space left\n"
    assert ref in laconic(environment, "recall").stdout.decode()


def test_run_within_the_smallest_budget_still_says_how_to_get_the_whole(environment: dict[str, str]) -> None:
    for budget in ("1", "20", "40"):
        shown = laconic(environment, "run", "--budget", budget, "--", sys.executable, "-c", NOISY).stdout.decode()
        ref = shown.split("whole: laconic recall ")[1].split("]")[0]
        assert laconic(environment, "recall", ref).stdout.count(b"INFO step") == 3000


def test_run_of_nothing_and_of_what_does_not_exist(environment: dict[str, str]) -> None:
    assert laconic(environment, "run").returncode == 2
    done = laconic(environment, "run", "--", "no-such-program-here")
    assert done.returncode == 127
    assert b"not found" in done.stdout


def test_run_tells_a_signal_as_a_shell_does(environment: dict[str, str]) -> None:
    done = laconic(environment, "run", "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 15)")
    assert done.returncode == 143


def test_run_without_a_usable_archive_still_shows_the_output(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    done = laconic(environment, "run", "--", sys.executable, "-c", NOISY)
    assert done.returncode == 3
    assert b"no space left" in done.stdout
    assert b"cannot be used" in done.stderr


def test_recall_of_what_is_not_kept_says_what_to_do(environment: dict[str, str]) -> None:
    done = laconic(environment, "recall", "zzzzzzzz")
    assert done.returncode == 2
    assert b"Repeat the command or call" in done.stderr
    assert b"Write 40-80" in laconic(environment, "recall", "zzzzzzzz", "--lines", "x").stderr


def test_recall_searches_everything_or_one_session(environment: dict[str, str]) -> None:
    for name in ("one", "two"):
        laconic(environment, "run", "--session", name, "--", sys.executable, "-c", NOISY)
    everywhere = laconic(environment, "recall", "--all", "--grep", "no space").stdout.decode()
    assert everywhere.count("3001: error: no space left") == 2
    assert "tokens" in everywhere
    found = laconic(environment, "recall", "--session", "two", "--grep", "no space").stdout.decode()
    assert found.count("3001: error: no space left") == 1
    assert laconic(environment, "recall", "--all", "--grep", "not there").returncode == 1


@pytest.mark.feature("S5")
def test_recall_finds_what_the_gateway_archived_by_words_of_task_and_session(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """The gateway does not know a workspace: somebody who asks inside one still finds it, and is told."""
    archive = Archive.of(load(environ=environment, file=tmp_path / "none.toml"))
    ref = archive.put("a0f3", "Find the cause", b"one\nneedle here\n" + b"x" * 4_000, "read price.py")
    archive.put("a0f3", "Fix it", b"another needle\n", "read tax.py")
    listed = laconic(environment, "recall", "--task", "cause")
    assert listed.stdout.decode().split("  ")[0] == ref
    assert b"just now" in listed.stdout
    assert b"about 1,004 tokens" in listed.stdout
    assert b"task 'Find the cause'" in listed.stdout
    assert b"Fix it" not in listed.stdout
    found = laconic(environment, "recall", "--grep", "needle")
    assert found.stdout.count(b"needle") == 2
    assert b"none of this is from this workspace" in found.stderr
    missed = laconic(environment, "recall", "--task", "cause", "--grep", "another")
    assert (missed.returncode, missed.stdout) == (1, b"")
    assert b"nothing in the archive fits" in missed.stderr


def test_recall_of_an_empty_archive_says_so(environment: dict[str, str]) -> None:
    done = laconic(environment, "recall")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"nothing is archived yet" in done.stderr


def test_recall_of_a_file_that_changed_says_so_beside_the_exact_bytes(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "app.py"
    file.write_text("one = 1\ntwo = 2\nthree = 3\nfour = 4\n")
    shown = laconic(environment, "read", "app.py").stdout
    settings = load(environ=environment, file=tmp_path / "none.toml")
    ref = Archive.of(settings).put("s", "", shown, "read app.py")
    assert laconic(environment, "recall", ref).stderr == b""
    file.write_text("one = 1\ntwo = 22\nthree = 3\nfour = 4\n")
    again = laconic(environment, "recall", ref)
    assert again.stdout == shown
    assert again.stderr == b"laconic: app.py changed since; read the file as it is now.\n"
