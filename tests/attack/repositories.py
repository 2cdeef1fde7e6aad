"""Repositories that a stranger could hand to somebody, each with one trap, and the plain git command that springs it.

A trap that runs a program creates the file `sprung`. A trap that leads to other people's files shows the word SECRET.
"""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SECRET: Final = "the-word-of-another-repository"
CODE: Final = "def one(a):\n    return a\n\n\ndef two(b):\n    return one(b)\n"
_WHO: Final = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always")


@dataclass(frozen=True)
class Place:
    """A folder for one trap: the repository, a program that leaves a mark, and somebody else's files."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "repository"

    @property
    def private(self) -> Path:
        return self.folder / "private"

    @property
    def mark(self) -> Path:
        return self.folder / "sprung"

    @property
    def program(self) -> str:
        return str(self.folder / "trap.sh")

    @property
    def transport(self) -> str:
        """The same in the place of a connection: it hangs up at once, since git waits for what it says."""
        return str(self.folder / "transport.sh")

    def git(self, *words: str, at: Path | None = None, given: str = "") -> str:
        """Plain git with the user's empty home, as a setting-up step that must succeed."""
        done = self.plain(("git", *_WHO, *words), at=at, given=given)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def plain(
        self, words: Sequence[str], *, at: Path | None = None, given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=at or self.root,
            env=self.environment(),
            input=given,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=60,
        )

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "LACONIC_"))}
        unset = {name: value for name, value in kept.items() if name not in {"EDITOR", "VISUAL", "PAGER"}}
        home = {"HOME": str(self.folder / "home"), "XDG_CONFIG_HOME": str(self.folder / "home" / ".config")}
        return {**unset, **home, "TERM": "vt100"}

    def config(self, name: str, value: str, at: Path | None = None) -> None:
        self.git("config", name, value, at=at)

    def attributes(self, text: str) -> None:
        (self.root / ".gitattributes").write_text(text)

    def hook(self, name: str, folder: str = ".git/hooks") -> None:
        file = self.root / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(Path(self.program).read_text())
        file.chmod(0o755)


@dataclass(frozen=True)
class Trap:
    """One hostile repository."""

    name: str
    arm: Callable[[Place], None]
    spring: tuple[str, ...]  # what somebody would type; it springs the trap with plain git
    given: str = ""
    terminal: bool = False  # it springs only where a person looks on
    leaks: bool = False  # it shows somebody else's files instead of running a program
    inside: str = ""  # the folder of the repository in which commands are given

    def set(self, folder: Path) -> Place:
        """Lay out the repository and arm the trap."""
        place = Place(folder)
        _lay_out(place)
        self.arm(place)
        place.mark.unlink(missing_ok=True)  # arming may have sprung it
        return place

    def is_sprung_by_plain_git(self, place: Place) -> bool:
        where = place.root / self.inside
        if self.terminal:
            _on_a_terminal(self.spring, where, place.environment())
            return place.mark.exists()
        done = place.plain(self.spring, at=where, given=self.given)
        return SECRET in done.stdout if self.leaks else place.mark.exists()


def _lay_out(place: Place) -> None:
    """Two commits on two branches, and changes on top; beside it a repository of somebody else's."""
    (place.folder / "home").mkdir(parents=True)
    for program, last in ((place.program, "cat 2>/dev/null"), (place.transport, "exit 1")):
        Path(program).write_text(f"#!/bin/sh\ntouch '{place.mark}'\n{last}\n")
        Path(program).chmod(0o755)
    place.root.mkdir()
    place.git("init", "-q", "-b", "main")
    (place.root / "a.py").write_text(CODE)
    (place.root / "notes.md").write_text("# Notes\n")
    (place.root / "found.txt").write_text("a.py:2:5: F821 Undefined name `x`\nFound 1 error.\n")
    place.git("add", "-A")
    place.git("commit", "-qm", "first")
    place.git("branch", "topic")
    (place.root / "a.py").write_text(CODE.replace("return a", "return a + 1"))
    place.git("commit", "-qam", "second")
    (place.root / "a.py").write_text(CODE.replace("return a", "return a + 2"))
    (place.root / "new.py").write_text("def three():\n    return 3\n")
    place.private.mkdir()
    place.git("init", "-q", "-b", "main", at=place.private)
    (place.private / "secret.py").write_text(f"def secret():\n    return '{SECRET}'\n")
    place.git("add", "-A", at=place.private)
    place.git("commit", "-qm", "private", at=place.private)
    (place.private / "secret.py").write_text(f"def secret():\n    return '{SECRET} again'\n")
    place.git("commit", "-qam", "private", at=place.private)


def _on_a_terminal(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    above, below = pty.openpty()
    os.write(above, b"q\n")  # whatever it asks
    try:
        subprocess.run(
            words, cwd=folder, env=dict(environment), stdin=below, stdout=below, stderr=below, check=False, timeout=60
        )
    finally:
        os.close(above)
        os.close(below)


Arm = Callable[[Place], None]


def _configured(
    name: str, value: str = "{program}", attributes: str = "", more: Mapping[str, str] | None = None
) -> Arm:
    """A trap in the repository's own configuration, and the attributes that make git look at it."""

    def arm(place: Place) -> None:
        for key, given in {name: value, **(more or {})}.items():
            place.config(key, given.format(program=place.program, folder=place.folder))
        if attributes:
            place.attributes(attributes)

    return arm


def _included(condition: str) -> Arm:
    def arm(place: Place) -> None:
        (place.root / ".git" / "more").write_text(f"[core]\n\tfsmonitor = {place.program}\n")
        place.config(condition.format(root=place.root), "more" if "." in condition else "")

    return arm


def _hooked(name: str, hooks_path: bool = False) -> Arm:
    def arm(place: Place) -> None:
        place.hook(name, "hooks" if hooks_path else ".git/hooks")
        if hooks_path:
            place.config("core.hooksPath", "hooks")

    return arm


def _due_for_gc(place: Place) -> None:
    place.hook("pre-auto-gc")
    sampled = place.root / ".git" / "objects" / "17"  # git guesses the number of objects from this folder
    sampled.mkdir(exist_ok=True)
    for digit in "abc":
        (sampled / (digit * 38)).write_bytes(b"")


def _attributes_elsewhere(where: str) -> Arm:
    def arm(place: Place) -> None:
        place.config("filter.x.clean", place.program)
        file = place.root / where
        file.parent.mkdir(exist_ok=True)
        file.write_text("*.py filter=x\n")
        if not where.startswith(".git/info"):
            place.config("core.attributesFile", str(file))

    return arm


def _signed(header: str, key: str, more: Mapping[str, str] | None = None) -> Arm:
    """A signed commit, and a program that is to check it."""

    def arm(place: Place) -> None:
        commit = place.git("cat-file", "commit", "HEAD")
        head, _, message = commit.partition("\n\n")
        forged = f"{head}\ngpgsig -----BEGIN {header}-----\n \n aGVsbG8=\n -----END {header}-----\n\n{message}"
        made = place.git("hash-object", "-t", "commit", "-w", "--stdin", given=forged).strip()
        place.git("update-ref", "HEAD", made)
        place.config("log.showSignature", "true")
        place.config(key, place.program)
        for name, value in (more or {}).items():
            place.config(name, value.format(folder=place.folder))
        (place.folder / "signers").write_text("ada@example.org ssh-ed25519 AAAA\n")

    return arm


def _partial(config: Mapping[str, str]) -> Arm:
    """A clone that lacks a blob and names where to fetch it from."""

    def arm(place: Place) -> None:
        lost = place.git("rev-parse", "HEAD~1:a.py").strip()
        (place.root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
        place.config("core.repositoryFormatVersion", "1")
        place.config("extensions.partialClone", "origin")
        place.config("remote.origin.promisor", "true")
        for name, value in config.items():
            words = {"program": place.transport, "folder": place.folder}
            place.config(name.format(**words), value.format(**words))

    return arm


def _merging(place: Place) -> None:
    place.git("checkout", "-q", "--force", "topic")
    (place.root / "a.py").write_text(CODE.replace("return a", "return a - 1"))
    place.git("commit", "-qam", "other")
    place.attributes("*.py merge=x\n")
    place.config("merge.x.driver", f"{place.program} %O %A %B")


def _submodule(key: str, attributes: str = "") -> Arm:
    """A repository within the repository, with a configuration of its own."""

    def arm(place: Place) -> None:
        module = place.root / "module"
        module.mkdir()
        place.git("init", "-q", at=module)
        (module / "m.py").write_text("def m():\n    return 1\n")
        if attributes:
            (module / ".gitattributes").write_text(attributes)
        place.git("add", "-A", at=module)
        place.git("commit", "-qm", "first", at=module)
        place.git("-c", "advice.addEmbeddedRepo=false", "add", "module")
        place.git("commit", "-qm", "with a module")
        (module / "m.py").write_text("def m():\n    return 2\n")
        place.config(key, place.program, at=module)

    return arm


def _absorbed_submodule(place: Place) -> None:
    _submodule("user.color")(place)
    (place.root / ".gitmodules").write_text('[submodule "module"]\n\tpath = module\n\turl = ./module\n')
    place.git("submodule", "absorbgitdirs")
    place.config("core.fsmonitor", place.program, at=place.root / "module")


def _submodule_update(place: Place) -> None:
    _submodule("user.color")(place)
    (place.root / ".gitmodules").write_text('[submodule "module"]\n\tpath = module\n\turl = ./module\n')
    place.git("submodule", "init")
    place.config("submodule.module.update", f"!{place.program}")
    place.git("commit", "-q", "--allow-empty", "-m", "moved on", at=place.root / "module")


def _untracked_nested(place: Place) -> None:
    nested = place.root / "vendor" / "nested"
    nested.mkdir(parents=True)
    place.git("init", "-q", at=nested)
    (nested / "n.py").write_text("def n():\n    return 1\n")
    place.config("core.fsmonitor", place.program, at=nested)


def _embedded_bare(place: Place) -> None:
    """A folder that is a git folder without being called one: git takes it for the repository of whoever stands in it."""
    folder = place.root / "docs"
    place.git("init", "-q", "--bare", str(folder))
    place.config("core.bare", "false", at=folder)
    place.git("config", "--file", str(folder / "config"), "core.worktree", str(folder))
    place.git("config", "--file", str(folder / "config"), "core.fsmonitor", place.program)
    (folder / "page.md").write_text("# Page\n")


def _git_file(place: Place) -> None:
    (place.root / ".git").rename(place.root / "dot")
    (place.root / ".git").write_text("gitdir: dot\n")
    place.git("config", "--file", str(place.root / "dot" / "config"), "core.fsmonitor", place.program)


def _common_dir(place: Place) -> None:
    other = place.folder / "other"
    place.git("clone", "-q", "--bare", str(place.root), str(other), at=place.folder)
    (place.root / ".git" / "commondir").write_text(f"{other}\n")
    place.git("config", "--file", str(other / "config"), "core.fsmonitor", place.program)
    place.git("config", "--file", str(other / "config"), "core.bare", "false")


def _worktree_config(place: Place) -> None:
    place.config("extensions.worktreeConfig", "true")
    (place.root / ".git" / "config.worktree").write_text(f"[core]\n\tfsmonitor = {place.program}\n")


def _linked_work_tree(place: Place) -> None:
    place.git("worktree", "add", "-q", "tree", "topic")
    place.config("core.fsmonitor", place.program)


def _alternate_refs(place: Place) -> None:
    (place.root / ".git" / "objects" / "info" / "alternates").write_text(f"{place.private}/.git/objects\n")
    place.config("core.alternateRefsCommand", place.program)


def _other_work_tree(place: Place) -> None:
    place.config("core.worktree", str(place.private))


def _borrowed_objects(place: Place) -> None:
    (place.root / ".git" / "objects" / "info" / "alternates").write_text(f"{place.private}/.git/objects\n")
    head = place.git("rev-parse", "HEAD", at=place.private).strip()
    (place.root / ".git" / "refs" / "heads" / "main").write_text(f"{head}\n")


def _chained_alternates(place: Place) -> None:
    between = place.root / "between"
    (between / "info").mkdir(parents=True)
    (between / "info" / "alternates").write_text(f"{place.private}/.git/objects\n")
    _borrowed_objects(place)
    (place.root / ".git" / "objects" / "info" / "alternates").write_text(f"{between}\n")


def _elsewhere(place: Place) -> None:
    (place.root / ".git").rename(place.folder / "unused")


def _git_file_elsewhere(place: Place) -> None:
    _elsewhere(place)
    (place.root / ".git").write_text(f"gitdir: {place.private}/.git\n")


def _git_link_elsewhere(place: Place) -> None:
    _elsewhere(place)
    (place.root / ".git").symlink_to(place.private / ".git")


def _linked_parts(place: Place) -> None:
    for name in ("objects", "refs"):
        (place.root / ".git" / name).rename(place.folder / name)
        (place.root / ".git" / name).symlink_to(place.private / ".git" / name)


def _linked_object_folders(place: Place) -> None:
    """Not the store is a link, but all that is in it."""
    head = place.git("rev-parse", "HEAD", at=place.private).strip()
    for folder in (place.private / ".git" / "objects").glob("??"):
        own = place.root / ".git" / "objects" / folder.name
        if own.exists():
            own.rename(place.folder / f"unused-{folder.name}")
        own.symlink_to(folder)
    (place.root / ".git" / "refs" / "heads" / "main").write_text(f"{head}\n")


def _shared_work_tree(place: Place) -> None:
    """A folder that claims to be a linked work tree of somebody else's repository."""
    _elsewhere(place)
    fake = place.root / "fake"
    fake.mkdir()
    (fake / "HEAD").write_text("ref: refs/heads/main\n")
    (fake / "commondir").write_text(f"{place.private}/.git\n")
    (fake / "gitdir").write_text(f"{place.root}/.git\n")
    (place.root / ".git").write_text("gitdir: fake\n")


_DIFF: Final = ("git", "diff")
_STATUS: Final = ("git", "status")
_FETCHING: Final = ("git", "show", "HEAD")
_PY: Final = "*.py filter=x\n"
_AT_NIGHT: Final = {"remote.origin.url": "ssh://127.0.0.1/nowhere"}

TRAPS: Final = (
    Trap("filter clean", _configured("filter.x.clean", attributes=_PY), _DIFF),
    Trap("filter process", _configured("filter.x.process", attributes=_PY), _DIFF),
    Trap(
        "filter that is required",
        _configured("filter.x.clean", attributes=_PY, more={"filter.x.required": "true"}),
        _DIFF,
    ),
    Trap("filter smudge", _configured("filter.x.smudge", attributes=_PY), ("git", "checkout", "--", "a.py")),
    Trap("filter by info/attributes", _attributes_elsewhere(".git/info/attributes"), _DIFF),
    Trap("filter by core.attributesFile", _attributes_elsewhere("rules"), _DIFF),
    Trap("filter called lfs", _configured("filter.lfs.process", attributes="*.py filter=lfs\n"), _DIFF),
    Trap("textconv", _configured("diff.x.textconv", attributes="*.py diff=x\n"), _DIFF),
    Trap("textconv of a commit", _configured("diff.x.textconv", attributes="*.py diff=x\n"), ("git", "show")),
    Trap(
        "textconv of a built-in driver", _configured("diff.python.textconv", attributes="*.py diff=python\n"), _DIFF
    ),
    Trap("diff driver", _configured("diff.x.command", attributes="*.py diff=x\n"), _DIFF),
    Trap("external diff", _configured("diff.external"), _DIFF),
    Trap("external diff of a commit", _configured("diff.external"), ("git", "show", "--ext-diff")),
    Trap("difftool", _configured("difftool.x.cmd"), ("git", "difftool", "-y", "-t", "x")),
    Trap("fsmonitor", _configured("core.fsmonitor"), _STATUS),
    Trap("fsmonitor, old", _configured("core.fsmonitor", more={"core.fsmonitorHookVersion": "1"}), _STATUS),
    Trap("hook post-index-change", _hooked("post-index-change"), ("git", "add", "new.py")),
    Trap("hook in core.hooksPath", _hooked("post-index-change", hooks_path=True), ("git", "add", "new.py")),
    Trap("hook post-checkout", _hooked("post-checkout"), ("git", "checkout", "-q", "--force", "topic")),
    Trap("hook reference-transaction", _hooked("reference-transaction"), ("git", "branch", "x")),
    Trap("hook pre-auto-gc", _due_for_gc, ("git", "-c", "gc.auto=1", "gc", "--auto")),
    Trap("hook pre-commit", _hooked("pre-commit"), ("git", *_WHO, "commit", "-aqm", "x")),
    Trap("gpg", _signed("PGP SIGNATURE", "gpg.program"), ("git", "log")),
    Trap("gpg, x509", _signed("SIGNED MESSAGE", "gpg.x509.program"), ("git", "log")),
    Trap(
        "gpg, ssh",
        _signed("SSH SIGNATURE", "gpg.ssh.program", {"gpg.ssh.allowedSignersFile": "{folder}/signers"}),
        ("git", "log"),
    ),
    Trap("ssh by lazy fetch", _partial({**_AT_NIGHT, "core.sshCommand": "{program}"}), _FETCHING),
    Trap(
        "uploadpack by lazy fetch",
        _partial({"remote.origin.url": "{folder}/private", "remote.origin.uploadpack": "{program}"}),
        _FETCHING,
    ),
    Trap(
        "ext protocol by lazy fetch",
        _partial({"remote.origin.url": "ext::{program}", "protocol.ext.allow": "always"}),
        _FETCHING,
    ),
    Trap(
        "rewritten address by lazy fetch",
        _partial(
            {
                "remote.origin.url": "https://127.0.0.1/x",
                "url.ext::{program} .insteadOf": "https://127.0.0.1/",
                "protocol.ext.allow": "always",
            }
        ),
        _FETCHING,
    ),
    Trap(
        "git proxy by lazy fetch",
        _partial({"remote.origin.url": "git://127.0.0.1/x", "core.gitProxy": "{program}"}),
        _FETCHING,
    ),
    Trap(
        "credential helper",
        _configured("credential.helper", "!{program}"),
        ("git", "credential", "fill"),
        given="protocol=https\nhost=127.0.0.1\n\n",
    ),
    Trap(
        "askpass",
        _configured("core.askPass"),
        ("git", "credential", "fill"),
        given="protocol=https\nhost=127.0.0.1\n\n",
    ),
    Trap("include", _included("include.path"), _STATUS),
    Trap("includeIf gitdir", _included("includeIf.gitdir:{root}/.path"), _STATUS),
    Trap("includeIf onbranch", _included("includeIf.onbranch:main.path"), _STATUS),
    Trap("configuration of the work tree", _worktree_config, _STATUS),
    Trap("alias", _configured("alias.changes", "!{program}"), ("git", "changes")),
    Trap("pager", _configured("core.pager"), ("git", "log"), terminal=True),
    Trap("pager of one command", _configured("pager.diff"), _DIFF, terminal=True),
    Trap("editor", _configured("core.editor"), ("git", *_WHO, "commit", "-a")),
    Trap("sequence editor", _configured("sequence.editor"), ("git", *_WHO, "rebase", "-i", "--autostash", "HEAD~1")),
    Trap(
        "diff filter of add -p",
        _configured("interactive.diffFilter"),
        ("git", "add", "-p"),
        terminal=True,
    ),
    Trap("merge driver", _merging, ("git", *_WHO, "merge", "main")),
    Trap(
        "trailer",
        _configured("trailer.x.command"),
        ("git", "interpret-trailers", "--trailer", "x=y"),
        given="subject\n\nbody\n",
    ),
    Trap("archive", _configured("tar.x.command"), ("git", "archive", "--format=x", "HEAD")),
    Trap("references of alternates", _alternate_refs, ("git", "rev-list", "--alternate-refs", "--all")),
    Trap("fsmonitor of a submodule", _submodule("core.fsmonitor"), _DIFF),
    Trap("filter of a submodule", _submodule("filter.x.clean", _PY), _DIFF),
    Trap("fsmonitor of an absorbed submodule", _absorbed_submodule, _DIFF),
    Trap("update of a submodule", _submodule_update, ("git", "submodule", "update")),
    Trap("repository within", _untracked_nested, _STATUS, inside="vendor/nested"),
    Trap("bare repository within", _embedded_bare, _STATUS, inside="docs"),
    Trap("git file", _git_file, _STATUS),
    Trap("common folder", _common_dir, _STATUS),
    Trap("linked work tree", _linked_work_tree, _STATUS, inside="tree"),
    Trap("work tree elsewhere", _other_work_tree, ("sh", "-c", "git add -A && git diff --cached"), leaks=True),
    Trap("borrowed objects", _borrowed_objects, ("git", "show"), leaks=True),
    Trap("borrowed through another", _chained_alternates, ("git", "show"), leaks=True),
    Trap("git file to another repository", _git_file_elsewhere, ("git", "show"), leaks=True),
    Trap("link to another repository", _git_link_elsewhere, ("git", "show"), leaks=True),
    Trap("links to parts of another repository", _linked_parts, ("git", "show"), leaks=True),
    Trap("links to objects of another repository", _linked_object_folders, ("git", "show"), leaks=True),
    Trap("work tree of another repository", _shared_work_tree, ("git", "show"), leaks=True),
)
