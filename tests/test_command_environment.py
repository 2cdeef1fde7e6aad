"""Commands of a model see variables that hold no secrets, and those that the user names."""

from __future__ import annotations

from pathlib import Path

from laconic.config import command_environment

GIVEN = {
    "PATH": "/usr/bin",
    "HOME": "/home/a",
    "LC_ALL": "C",
    "OPENAI_API_KEY": "k",
    "GITHUB_TOKEN": "k",
    "AWS_SECRET_ACCESS_KEY": "k",
    "DATABASE_URL": "postgres://u:k@h",
    "SSH_AUTH_SOCK": "/s",
    "LD_PRELOAD": "/x.so",
    "LACONIC_GATEWAY_TOKEN": "k",
    "PIP_INDEX_URL": "u:k@h",
    "HTTPS_PROXY": "u:k@h",
}


def test_only_what_holds_no_secrets_is_seen(tmp_path: Path) -> None:
    assert set(command_environment(tmp_path, (), GIVEN)) == {"PATH", "HOME", "LC_ALL"}


def test_the_user_names_more(tmp_path: Path) -> None:
    found = command_environment(tmp_path, ("DATABASE_URL", "AWS_*"), GIVEN)
    assert set(found) - {"PATH", "HOME", "LC_ALL"} == {"DATABASE_URL", "AWS_SECRET_ACCESS_KEY"}


def test_programs_of_the_folder_are_not_on_the_path_unless_its_environment_is_active(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "bin")
    given = {"PATH": f"{tmp_path}/.venv/bin:{tmp_path}/bin:.:bin::/usr/bin:{tmp_path}/link:/bin"}
    assert command_environment(tmp_path, (), given)["PATH"] == "/usr/bin:/bin"
    active = {**given, "VIRTUAL_ENV": f"{tmp_path}/.venv"}
    assert command_environment(tmp_path, (), active)["PATH"] == f"{tmp_path}/.venv/bin:/usr/bin:/bin"
    assert command_environment(tmp_path, ("PATH",), given) == given
