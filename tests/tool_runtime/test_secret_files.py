"""Files that may hold secrets stay out of the index and out of every answer, unless the user lets them in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.samples import git, shop

from laconic.config import Settings, load
from laconic.index.workspace_index import Index
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools
from laconic.workspace.secrets import SecretFiles

WORD = "hunter2correcthorse"
STORED = "orrecthors"  # how a full-text table holds the word: its stem, without what it shares with others
Open = Callable[..., ToolRuntime]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = shop(tmp_path)
    (made / ".env").write_text(f"SHOP_PASSWORD={WORD}\n")
    (made / ".env.example").write_text("SHOP_PASSWORD=change_me_please\n")
    git(made, "add", ".")
    git(made, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "second")
    return made


@pytest.fixture
def opened(root: Path, tmp_path: Path) -> Iterator[Open]:
    planes: list[ToolRuntime] = []

    def open_plane(secrets: str = "") -> ToolRuntime:
        flags = {"cache_dir": str(tmp_path / "cache"), "index.secrets": secrets}
        planes.append(ToolRuntime(root, load(flags=flags, environ={}, file=tmp_path / "none.toml"), tools()))
        return planes[-1]

    yield open_plane
    for runtime in planes:
        runtime.close()


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("search", {"query": WORD}),
        ("search", {"query": "/SHOP_PASSWORD=.+/"}),
        ("search", {"query": "SHOP_PASSWORD"}),
        ("read", {"targets": ".env"}),
        ("read", {"targets": [".env:1-1", "linked.txt"]}),
        ("read", {"targets": "."}),
        ("map", {}),
        ("map", {"path": ".env"}),
        ("context", {"task": f"where is SHOP_PASSWORD {WORD[:7]} set in .env"}),
        ("diff", {"states": "HEAD^!", "view": "hunks"}),
        ("diff", {"view": "hunks"}),
        ("diff", {"states": "HEAD^!"}),
        ("report", {"file": "found.txt", "context": True}),
        ("report", {"file": ".env"}),
        ("edit", {"edits": [{"path": ".env", "find": "SHOP_PASSWORD=x", "text": "y"}]}),
    ],
)
def test_no_answer_shows_one(opened: Open, root: Path, tool: str, given: dict[str, object]) -> None:
    (root / "linked.txt").symlink_to(".env")
    (root / "found.txt").write_text(".env:1:1: E501 Line too long\nlinked.txt:1:1: E501 Line too long\n")
    (root / ".env").write_text(f"SHOP_PASSWORD={WORD}\nSHOP_KEY={WORD}\n")
    reply = opened().call(tool, {**given, "budget": "full"})
    assert WORD not in reply.text.replace(f"nothing found for {WORD!r}", "").replace(f"search({WORD!r})", "")


def test_a_read_says_why_and_how_to_allow_it(opened: Open) -> None:
    reply = opened().call("read", {"targets": ".env"})
    assert reply.failed
    assert "may hold secrets" in reply.text
    assert "index.secrets" in reply.text
    assert "change_me_please" in opened().call("read", {"targets": ".env.example"}).text


@pytest.mark.parametrize("secrets", ["all", ".env", "*.pem, .env*"])
def test_the_user_lets_one_in(opened: Open, secrets: str) -> None:
    runtime = opened(secrets)
    assert WORD in runtime.call("read", {"targets": ".env"}).text
    assert ".env" in runtime.call("search", {"query": WORD}).text


def test_an_index_that_held_one_drops_it_with_the_next_refresh(root: Path, settings: Settings) -> None:
    """Not only from the tables: the bytes leave the files."""
    before = Index.open(root, settings.cache_dir(), secrets=SecretFiles(("all",)))
    before.build()
    row = before.store.file(".env")
    assert row is not None
    assert row.state != "skipped"
    before.close()
    assert _on_disk(settings, STORED)
    after = Index.open(root, settings.cache_dir())
    try:
        after.refresh()
        row = after.store.file(".env")
        assert row is not None
        assert (row.state, row.reason) == ("skipped", "it may hold secrets")
    finally:
        after.close()
    assert not _on_disk(settings, STORED)
    again = Index.open(root, settings.cache_dir(), secrets=SecretFiles(("all",)))
    try:
        again.refresh()
        row = again.store.file(".env")
        assert row is not None
        assert row.state != "skipped"
    finally:
        again.close()


def _on_disk(settings: Settings, word: str) -> bool:
    files = [path for path in settings.cache_dir().rglob("*") if path.is_file()]
    return any(word.encode() in path.read_bytes() for path in files)
