"""A repository map and our answer to the same task, scored alike: a program that behaves as the peer does stands in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from laconic_benchmarks.peers.environments import PEERS
from laconic_benchmarks.peers.mapping import mapped
from laconic_benchmarks.report import Options

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
CODE = 'def settle(invoice):\n    """Round the total of an invoice."""\n    return round(invoice.total)\n'
# It sends the first line of every file that git knows below the words with which the peer begins its map.
MAPPER = """#!{python}
import subprocess, sys, urllib.request, json
base = sys.argv[sys.argv.index("--openai-api-base") + 1]
files = subprocess.run(["git", "ls-files"], capture_output=True, text=True).stdout.split()
parts = ["Here are summaries of some files present in my git repository."]
parts += [f"{{file}}:\\n⋮\\n│" + open(file).readline() + "⋮" for file in files]
body = {{"model": "m", "messages": [{{"role": "user", "content": "\\n".join(parts)}}]}}
urllib.request.urlopen(urllib.request.Request(base + "/chat/completions", json.dumps(body).encode())).read()
"""


def _git(*args: str, cwd: Path) -> str:
    return subprocess.run(["git", *IDENTITY, *args], cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def options(tmp_path: Path) -> Options:
    """One task on one repository, and an environment with a program in the peer's place."""
    work, clones = tmp_path / "work", tmp_path / "clones" / "own+er"
    for folder in (work, clones, tmp_path / "localisation"):
        folder.mkdir(parents=True)
    (work / "bill.py").write_text(CODE)
    for words in (("init",), ("add", "."), ("commit", "-m", "one")):
        _git(*words, cwd=work)
    _git("clone", "--bare", str(work), str(clones / "repo"), cwd=tmp_path)
    task = {
        **{
            "id": "1",
            "family": "issue",
            "mirror": "own+er",
            "query": "The total of an invoice is rounded",
            "flags": {},
        },
        **{"parent_sha": _git("rev-parse", "HEAD", cwd=work).strip()},
        "functions": [{"path": "bill.py", "name": "settle", "start": 1, "end": 3}],
    }
    (tmp_path / "localisation" / "public.jsonl").write_text(json.dumps(task) + "\n")
    peer = tmp_path / "cache" / "peers" / "aider-chat"
    (peer / "lib" / "python3.11" / "site-packages" / "aider_chat-9.9.dist-info").mkdir(parents=True)
    return Options(str(tmp_path), str(tmp_path / "cache"), mirror=str(tmp_path / "clones"))


def _put(options: Options, program: str) -> None:
    file = Path(options.cache) / "peers" / "aider-chat" / "bin" / "aider"
    file.parent.mkdir()
    file.write_text(program, "utf-8")
    file.chmod(0o755)


def test_a_function_is_named_when_its_definition_stands_below_its_file(options: Options) -> None:
    _put(options, MAPPER.format(python=sys.executable))
    notes: list[str] = []
    rows = {str(row["by"]): row for row in mapped(options, PEERS, notes)}
    assert list(rows) == ["aider-chat 9.9", "laconic", "laconic, budget 1024"]
    assert [row["named"] for row in rows.values()] == [1.0, 1.0, 1.0]
    assert all(float(row["tokens"] or 0) > 0 for row in rows.values())
    assert notes == []


def test_a_program_that_asks_no_model_is_named_with_the_task(options: Options) -> None:
    _put(options, f"#!{sys.executable}\nraise SystemExit(3)\n")
    notes: list[str] = []
    assert mapped(options, PEERS, notes) == []
    assert notes == ["aider-chat 9.9, 1: it ended with 3 and asked no model."]


def test_nothing_is_measured_without_the_peer(options: Options) -> None:
    assert mapped(options, [each for each in PEERS if each.package != "aider-chat"], []) == []
