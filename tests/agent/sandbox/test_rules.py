"""The rules name what commands may read and change; everything else cannot be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.agent.sandbox.rules import SandboxRules, rules_for
from laconic.config import load


def _rules(home: Path, root: Path, path: str = "/usr/bin", **flags: object) -> SandboxRules:
    named = {name.replace("_", ".", 1): value for name, value in flags.items()}
    own = {"cache_dir": str(home / "cache"), "state_dir": str(home / "state")}
    settings = load(flags={**own, **named}, environ={}, file=home / "none.toml")
    return rules_for(root, settings, {"HOME": str(home), "PATH": path})


def _access(rules: SandboxRules, path: Path) -> str:
    """What the deepest place that holds a path says."""
    found = [access for place, access in rules.places if path.is_relative_to(place)]
    return found[-1] if found else "nothing"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in (".ssh", ".cargo/bin", ".pyenv", "project/sub", "data", "cache", "state", "tools/bin", "tools/lib"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".ssh" / "id").touch()
    return tmp_path.resolve()


def test_only_the_folder_can_be_changed_and_of_the_home_folder_only_tools_be_read(home: Path) -> None:
    rules = _rules(home, home / "project")
    assert _access(rules, home / "project" / "sub") == "write"
    assert _access(rules, home / ".cargo" / "bin" / "cargo") == "read"
    assert _access(rules, Path("/usr/bin/env")) == "read"
    hidden = (home / ".ssh" / "id", home / "data", home / ".cargo" / "credentials", home / "cache", Path("/tmp/x"))
    assert {_access(rules, path) for path in hidden} == {"private"}
    assert _access(rules, Path("/srv/x")) == "nothing"


def test_settings_name_further_places_and_secrets_stay_hidden_in_them(home: Path) -> None:
    rules = _rules(home, home / "project", agent_readable="~, /srv", agent_writable="~/data")
    assert _access(rules, home / "other") == "read"
    assert _access(rules, home / "data" / "x") == "write"
    assert _access(rules, home / ".ssh" / "id") == "private"
    assert _access(rules, home / "cache" / "archive.sqlite") == "private"
    assert _access(rules, Path("/srv/x")) == "read"


def test_own_folders_are_hidden_also_when_they_are_named(home: Path) -> None:
    rules = _rules(home, home / "project", agent_writable="~/cache, ~/state, ~/.ssh")
    assert _access(rules, home / "cache") == "private"
    assert _access(rules, home / "state") == "private"
    assert _access(rules, home / ".ssh") == "write"  # the user's own word


def test_folders_of_programs_come_with_their_libraries_but_never_with_the_home_folder(home: Path) -> None:
    rules = _rules(home, home / "project", f"{home}/tools/bin:{home}:{home.parent}:{home}/project/bin:relative")
    assert _access(rules, home / "tools" / "lib") == "read"
    assert _access(rules, home / "data") == "private"
    assert _access(rules, home / "project" / "bin") == "write"


def test_what_not_everybody_may_read_in_etc_is_hidden() -> None:
    rules = _rules(Path("/nonexistent"), Path("/srv"))
    shadow = Path("/etc/shadow")
    if not shadow.exists():
        pytest.skip("there is no /etc/shadow")
    assert _access(rules, shadow) == "private"
    assert _access(rules, Path("/etc/passwd")) == "read"


def test_a_repository_is_readable_only_if_it_knows_the_worktree(home: Path) -> None:
    """A folder from anywhere may claim that its repository is in somebody's home folder."""
    main, work = home / "main" / ".git", home / "project"
    linked = main / "worktrees" / "project"
    linked.mkdir(parents=True)
    (work / ".git").write_text(f"gitdir: {linked}\n", "utf-8")
    (linked / "commondir").write_text("../..\n", "utf-8")
    (linked / "gitdir").write_text(f"{home}/elsewhere/.git\n", "utf-8")
    assert _access(_rules(home, work), main) == "private"
    (linked / "gitdir").write_text(f"{work}/.git\n", "utf-8")
    assert _access(_rules(home, work), main) == "read"


def test_in_a_part_of_a_repository_the_rest_of_it_can_be_read(home: Path) -> None:
    (home / "project" / ".git").mkdir()
    rules = _rules(home, home / "project" / "sub")
    assert _access(rules, home / "project" / "x") == "read"
    assert _access(rules, home / "project" / "sub" / "x") == "write"
    (home / ".git").mkdir()
    (home / "project" / ".git").rmdir()
    assert _access(_rules(home, home / "project"), home / "x") == "private"  # a repository of the whole home folder
