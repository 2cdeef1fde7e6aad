"""What a command leaves in the folder makes neither the user's git nor a client run anything later."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from laconic.agent.agent_from_settings import command_runner
from laconic.agent.permission import everything
from laconic.config import load
from laconic.workspace.git import user_config

Prepare = Callable[["_Place"], None]


class _Place:
    """A project with a submodule, a home folder, and git as its user runs it."""

    def __init__(self, base: Path) -> None:
        self.base, self.home, self.project = base, base / "home", base / "home" / "project"
        self.project.mkdir(parents=True)
        for setting in ("user.name=a", "user.email=a@b", "protocol.file.allow=always"):
            name, _, value = setting.partition("=")
            self.git("config", "--global", name, value)
        library = base / "library"
        library.mkdir()
        for folder in (library, self.project):
            self.git("init", "-q", folder=folder)
            (folder / "a.py").write_text("a = 1\n")
        self.git("add", ".", folder=library)
        self.git("commit", "-qm", "x", folder=library)
        self.git("submodule", "add", "-q", str(library), "sub")
        self.git("add", ".")
        self.git("commit", "-qm", "x")

    def git(self, *words: str, folder: Path | None = None) -> None:
        env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *words], cwd=folder or self.project, env=env, check=False, capture_output=True)

    def run(self, command: str) -> None:
        user_config.cache_clear()
        runner = command_runner(self.project, load(environ={}, file=self.home / "none.toml"), everything)
        if runner.sandbox.name != "bubblewrap":
            pytest.skip(f"bubblewrap is not in force: {runner.describe()}")
        runner.sandbox.run(self.prefix + command, self.project, seconds=10, environment=runner.environment)
        user_config.cache_clear()

    @property
    def prefix(self) -> str:
        return f"printf '#!/bin/sh\\ntouch {self.base}/ran; echo /\\n' > evil.sh; chmod +x evil.sh; E=$PWD/evil.sh; "

    @property
    def has_run(self) -> bool:
        return (self.base / "ran").exists()

    def use(self) -> None:
        """What anybody does in a repository."""
        for words in (("status",), ("diff",), ("add", "a.py"), ("commit", "-qm", "y"), ("log", "-1")):
            self.git(*words)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Place:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return _Place(tmp_path)


def _share(name: str, setting: str) -> Prepare:
    def prepare(place: _Place) -> None:
        (place.project / name).write_text("[core]\n\tautocrlf = false\n")
        place.git("config", setting, f"../{name}")

    return prepare


def _share_twice(place: _Place) -> None:
    (place.project / "one").write_text("[include]\n\tpath = two\n")
    (place.project / "two").write_text("[core]\n\tautocrlf = false\n")
    place.git("config", "include.path", "../one")


def _set_hooks(line: str, folder: str = "") -> Prepare:
    def prepare(place: _Place) -> None:
        if folder:
            (place.project / folder).mkdir()
            (place.project / folder / "kept").touch()
        with (place.project / ".git" / "config").open("a") as file:
            file.write(line)

    return prepare


def _set_global_hooks(place: _Place) -> None:
    place.git("config", "--global", "core.hooksPath", ".githooks")
    (place.project / ".githooks").mkdir()


def _move_git(target: Callable[[_Place], Path], *, link: bool) -> Prepare:
    def prepare(place: _Place) -> None:
        shutil.move(place.project / ".git", target(place))
        if link:
            (place.project / ".git").symlink_to(target(place))
        else:
            (place.project / ".git").write_text(f"gitdir: {target(place)}\n")

    return prepare


def _inside(place: _Place) -> Path:
    return place.project / "store"


def _outside(place: _Place) -> Path:
    return place.home / "store"


def _nest(place: _Place) -> None:
    place.git("init", "-q", "vendor/library")


_REMADE = (
    "git init -q {0}; touch {0}/a.py; git -C {0} add a.py; git -C {0} -c user.name=a -c user.email=a@b commit -qm x;"
    " git -C {0} config core.fsmonitor $E; touch {0}/a.py"
)
_SHARED = "git config --file {} core.fsmonitor $E; echo >> a.py"
_HOOKED = "mkdir -p {0}; for n in pre-commit post-index-change; do cp evil.sh {0}/$n; done; echo >> a.py"
_FORMS: dict[str, tuple[Prepare | None, str]] = {
    "a submodule gets a repository": (None, "rm sub/.git; " + _REMADE.format("sub")),
    "a submodule is moved": (None, "mv sub sub2; " + _REMADE.format("sub")),
    "a submodule gets another store": (
        None,
        "cp -r .git/modules/sub gd; git config --file gd/config core.worktree $PWD/sub;"
        " git config --file gd/config core.fsmonitor $E; printf 'gitdir: ../gd\\n' > sub/.git; touch sub/b.py",
    ),
    "the store of a submodule": (None, "git config --file .git/modules/sub/config core.fsmonitor $E; touch sub/b.py"),
    "an included file": (_share("shared", "include.path"), _SHARED.format("shared")),
    "an included file that is replaced": (
        _share("shared", "include.path"),
        "cp shared s; " + _SHARED.format("s") + "; mv -f s shared",
    ),
    "a file that is included at times": (_share("shared", "includeIf.gitdir:**.path"), _SHARED.format("shared")),
    "a file that an included file includes": (_share_twice, _SHARED.format("two")),
    "an included file that is not there": (
        lambda place: place.git("config", "include.path", "../later"),
        _SHARED.format("later"),
    ),
    "hooks of the user": (_set_global_hooks, _HOOKED.format(".githooks")),
    "hooks that are not there": (_set_hooks("[core]\n\thooksPath = .hooks\n"), _HOOKED.format(".hooks")),
    "hooks on the line of a section": (_set_hooks("[core] hooksPath = hk\n", "hk"), _HOOKED.format("hk")),
    "hooks behind an escape": (_set_hooks("[core]\n\thooksPath = h\\\nk\n", "hk"), _HOOKED.format("hk")),
    "hooks in quotes": (_set_hooks('[core]\n\thooksPath = "./hk" ; x\n', "hk"), _HOOKED.format("hk")),
    "a link to a store inside": (_move_git(_inside, link=True), _SHARED.format("store/config")),
    "a link to a store inside, replaced": (
        _move_git(_inside, link=True),
        "rm .git; cp -r store .git; " + _SHARED.format(".git/config"),
    ),
    "a link to a store outside, replaced": (_move_git(_outside, link=True), "rm -f .git; " + _REMADE.format(".")),
    "a file that points to a store inside": (_move_git(_inside, link=False), _SHARED.format("store/config")),
}


@pytest.mark.parametrize("name", _FORMS)
def test_git_runs_nothing_that_a_command_has_left(place: _Place, name: str) -> None:
    prepare, command = _FORMS[name]
    if prepare is not None:
        prepare(place)
    place.use()
    place.run(command)
    assert not place.has_run
    place.use()
    assert not place.has_run


def test_git_in_a_repository_inside_runs_nothing_either(place: _Place) -> None:
    _nest(place)
    place.run("git -C vendor/library config core.fsmonitor $E; mv vendor v; " + _REMADE.format("vendor/library"))
    place.git("status", folder=place.project / "vendor" / "library")
    assert not place.has_run


@pytest.mark.parametrize("name", _FORMS)
def test_the_attacks_work_without_a_sandbox(place: _Place, name: str) -> None:
    """Otherwise the tests above could not fail."""
    prepare, command = _FORMS[name]
    if prepare is not None:
        prepare(place)
    place.use()
    subprocess.run(["/bin/sh", "-c", place.prefix + command], cwd=place.project, check=False, capture_output=True)
    (place.base / "ran").unlink(missing_ok=True)
    place.use()
    assert place.has_run


@pytest.mark.parametrize("name", [".mcp.json", ".claude", ".vscode", ".cursor", "opencode.json"])
@pytest.mark.parametrize("command", ["rm {0}; echo x > {0}", "ln -sfn /tmp {0}", "rm {0}; mkdir {0}; touch {0}/x"])
def test_a_link_of_a_client_is_put_back(place: _Place, name: str, command: str) -> None:
    (place.project / "dot").mkdir()
    (place.project / "dot" / name).write_text("{}")
    (place.project / name).symlink_to(f"dot/{name}")
    place.run(f"{command.format(name)}; echo y > dot/{name}")
    assert (place.project / name).readlink() == Path(f"dot/{name}")
    assert (place.project / name).read_text() == "{}"


def test_links_to_themselves_keep_no_command_from_running(place: _Place) -> None:
    for name in (".mcp.json", ".claude", "loop"):
        (place.project / name).symlink_to(name)
    place.git("config", "include.path", "../loop/x")
    place.git("config", "core.hooksPath", "loop/hooks")
    place.run("touch made")
    assert (place.project / "made").exists()
    assert (place.project / ".mcp.json").readlink() == Path(".mcp.json")


@pytest.mark.parametrize("name", [".mcp.around.claude.json", ".mcp.around.codex.json", ".aider.conf.yml"])
def test_files_that_name_programs_stay(place: _Place, name: str) -> None:
    (place.project / name).write_text("{}")
    place.run(f"echo x > {name}; rm -f {name}; echo y > z; mv -f z {name}")
    assert (place.project / name).read_text() == "{}"


def test_what_a_command_needed_for_a_moment_is_gone_afterwards(place: _Place) -> None:
    place.git("config", "include.path", "../later")
    place.git("config", "core.hooksPath", "hooks/of/mine")
    before = sorted(path.name for path in place.project.iterdir())
    place.run("true")
    assert sorted(path.name for path in place.project.iterdir()) == sorted([*before, "evil.sh"])
