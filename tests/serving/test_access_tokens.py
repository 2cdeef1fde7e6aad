"""Tokens: files that only their owner reads, and comparisons."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from laconic.errors import BadSetting
from laconic.serving.access_tokens import FILE, has_token, is_token, own_token, read_token


def test_it_is_made_once_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    token = own_token(folder)
    assert len(token) >= 40
    assert own_token(folder) == token
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in folder.iterdir()] == [FILE]
    assert own_token(tmp_path / "other") != token


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        found = set(pool.map(lambda _: own_token(tmp_path), range(200)))
    assert len(found) == 1


def test_none_is_made_when_none_is_wanted(tmp_path: Path) -> None:
    assert own_token(tmp_path / "state", make=False) == ""
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o604])
def test_one_that_others_could_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    own_token(tmp_path)
    (tmp_path / FILE).chmod(mode)
    with pytest.raises(BadSetting, match="Remove the file"):
        own_token(tmp_path)


@pytest.mark.parametrize("text", ["", "short", "x" * 20 + " " + "y" * 20, "é" * 40])
def test_a_file_without_a_token_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).touch(0o600)
    (tmp_path / FILE).write_text(text)
    with pytest.raises(BadSetting, match="contains no token"):
        own_token(tmp_path)


def test_a_link_to_another_file_is_refused(tmp_path: Path) -> None:
    """Somebody else may have put it there."""
    target = tmp_path / "planted"
    target.touch(0o600)
    target.write_text("a-token-that-somebody-else-knows")
    (tmp_path / FILE).symlink_to(target)
    with pytest.raises(BadSetting, match="cannot be used"):
        own_token(tmp_path)


def test_a_file_that_the_user_names(tmp_path: Path) -> None:
    file = tmp_path / "chosen"
    file.write_text("  chosen-word\n")
    assert read_token(file) == "chosen-word"
    for text in ("", "\n", "two words", "two\nlines", "naïve"):
        file.write_text(text)
        with pytest.raises(BadSetting, match="No token"):
            read_token(file)
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(BadSetting, match="No token"):
            read_token(path)


def test_an_empty_token_is_nobodys() -> None:
    assert not is_token("", "")
    assert not has_token({"x-laconic-token": "", "authorization": "Bearer "}, "")


@pytest.mark.parametrize(
    ("headers", "admitted"),
    [
        ({"x-laconic-token": "word"}, True),
        ({"authorization": "Bearer word"}, True),
        ({"authorization": "bearer word"}, True),
        ({"authorization": "Bearer of-a-provider", "x-laconic-token": "word"}, True),
        ({"authorization": "word"}, False),
        ({"authorization": "Basic word"}, False),
        ({"authorization": "Bearer words"}, False),
        ({"authorization": "Bearer wörd"}, False),
        ({"x-laconic-token": "Bearer word"}, False),
        ({}, False),
    ],
)
def test_where_a_request_carries_it(headers: dict[str, str], admitted: bool) -> None:
    assert has_token(headers, "word") is admitted
