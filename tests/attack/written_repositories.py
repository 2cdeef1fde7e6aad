"""More traps: settings in other spellings, and programs that only some commands of git ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tests.attack.repositories import CODE, Arm, Place, Trap

_WHO: Final = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always")
_DIFF: Final = ("git", "diff")
_STATUS: Final = ("git", "status")
_PY: Final = "*.py filter=x\n"


def _written(text: str, attributes: str = "") -> Arm:
    """A configuration as somebody typed it."""

    def arm(place: Place) -> None:
        config = place.root / ".git" / "config"
        given = text.replace("PROGRAM", place.program).replace("FOLDER", str(place.folder))
        config.write_bytes(config.read_bytes() + given.encode("utf-8", "surrogateescape"))
        if attributes:
            place.attributes(attributes)

    return arm


def _replaced(text: str) -> Arm:
    """A configuration that is nothing else."""

    def arm(place: Place) -> None:
        given = text.replace("PROGRAM", place.program)
        (place.root / ".git" / "config").write_bytes(given.encode("utf-8", "surrogateescape"))

    return arm


def _after(first: Arm, *more: Arm) -> Arm:
    def arm(place: Place) -> None:
        for one in (first, *more):
            one(place)

    return arm


def _set(values: Mapping[str, str]) -> Arm:
    def arm(place: Place) -> None:
        for name, value in values.items():
            words = {"program": place.program, "transport": place.transport, "folder": place.folder}
            place.config(name.format(**words), value.format(**words))

    return arm


def _filed(name: str, text: str) -> Arm:
    def arm(place: Place) -> None:
        file = place.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("PROGRAM", place.program).replace("FOLDER", str(place.folder)))

    return arm


def _hook(name: str, folder: str = ".git/hooks") -> Arm:
    def arm(place: Place) -> None:
        place.hook(name, folder)

    return arm


def _absolute_hooks(place: Place) -> None:
    place.hook("post-index-change", "hidden")
    place.config("core.hooksPath", str(place.root / "hidden"))


def _linked_config(place: Place) -> None:
    config = place.root / ".git" / "config"
    config.rename(place.root / "settings")
    config.symlink_to("../settings")
    place.git("config", "--file", str(place.root / "settings"), "core.fsmonitor", place.program)


def _chain_of_includes(place: Place) -> None:
    for number in range(5):
        (place.root / ".git" / f"part{number}").write_text(f"[include]\n\tpath = part{number + 1}\n")
    (place.root / ".git" / "part5").write_text(f"[core]\n\tfsmonitor = {place.program}\n")
    place.config("include.path", "part0")


def _attributes_of_the_index(place: Place) -> None:
    place.attributes(_PY)
    place.git("add", ".gitattributes")
    (place.root / ".gitattributes").unlink()
    place.config("filter.x.clean", place.program)


def _conflict(place: Place) -> None:
    place.git("checkout", "-q", "--force", "topic")
    (place.root / "a.py").write_text(CODE.replace("return a", "return a - 1"))
    place.git("commit", "-qam", "other")
    place.plain(("git", *_WHO, "merge", "main"))


def _origin(place: Place) -> None:
    """A repository elsewhere to fetch from and push to."""
    place.git("clone", "-q", "--bare", str(place.private), str(place.folder / "origin.git"), at=place.folder)
    place.config("remote.origin.url", str(place.folder / "origin.git"))
    place.config("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")


def _signed_commit(place: Place) -> None:
    commit = place.git("cat-file", "commit", "HEAD")
    head, _, message = commit.partition("\n\n")
    header = "-----{} PGP SIGNATURE-----"
    signature = f"gpgsig {header.format('BEGIN')}\n \n aGVsbG8=\n {header.format('END')}"
    made = place.git(
        "hash-object", "-t", "commit", "-w", "--stdin", given=f"{head}\n{signature}\n\n{message}"
    ).strip()
    place.git("update-ref", "HEAD", made)


def _lost(what: str) -> Arm:
    """An object that the repository lacks, and a promise that ssh brings it."""

    def arm(place: Place) -> None:
        lost = place.git("rev-parse", what).strip()
        (place.root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
        _set(
            {
                "core.repositoryFormatVersion": "1",
                "extensions.partialClone": "origin",
                "remote.origin.promisor": "true",
                "remote.origin.url": "ssh://127.0.0.1/nowhere",
                "core.sshCommand": "{transport}",
            }
        )(place)

    return arm


def _module(more: Callable[[Place], None]) -> Arm:
    def arm(place: Place) -> None:
        module = place.root / "module"
        module.mkdir()
        place.git("init", "-q", at=module)
        (module / "m.py").write_text("def m():\n    return 1\n")
        place.git("add", "-A", at=module)
        place.git("commit", "-qm", "first", at=module)
        place.git("-c", "advice.addEmbeddedRepo=false", "add", "module")
        place.git("commit", "-qm", "with a module")
        (module / "m.py").write_text("def m():\n    return 2\n")
        place.git("commit", "-qam", "second", at=module)
        more(place)

    return arm


def _external_diff_of_a_module(place: Place) -> None:
    place.config("diff.external", place.program, at=place.root / "module")
    place.config("diff.submodule", "diff")


def _hook_of_a_module(place: Place) -> None:
    place.hook("post-checkout", "module/.git/hooks")
    (place.root / ".gitmodules").write_text('[submodule "module"]\n\tpath = module\n\turl = ./module\n')
    place.git("submodule", "init")


def _tree_with_own_settings(place: Place) -> None:
    place.git("worktree", "add", "-q", "tree", "topic")
    place.config("extensions.worktreeConfig", "true")
    file = place.root / ".git" / "worktrees" / "tree" / "config.worktree"
    file.write_text(f"[core]\n\tfsmonitor = {place.program}\n")


def _named_by_secret(setting: str, more: Mapping[str, str] | None = None) -> Arm:
    """A setting that makes git read somebody else's file as if it were settings, and quote it in a complaint."""

    def arm(place: Place) -> None:
        (place.private / "one-line").write_text((place.private / "secret.py").read_text().split("'")[1] + "\n")
        _set({setting: "{folder}/private/one-line", **(more or {})})(place)

    return arm


def _linked_to_secret(name: str) -> Arm:
    def arm(place: Place) -> None:
        file = place.root / name
        file.unlink(missing_ok=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(place.private / "secret.py")

    return arm


_FSMONITOR: Final = (
    ("in capitals", "[CORE]\n\tFSMONITOR = PROGRAM\n"),
    ("on the line of its section", "[core]fsmonitor=PROGRAM\n"),
    ("in quotes", '[core]\n\tfsmonitor = "PROGRAM"\n'),
    ("over two lines", "[core]\n\tfsmonitor = \\\nPROGRAM\n"),
    ("behind another value", "[core]\n\tfsmonitor = false\n\tfsmonitor = PROGRAM\n"),
    ("with line ends of another system", "[core]\r\n\tfsmonitor = PROGRAM\r\n"),
    ("behind comments", "; [x]\n# y\n[core] ; z\n\tfsmonitor = PROGRAM ; w\n"),
    ("behind bytes that are no text", '[x "\udcff\udcfe"]\n\ty = \udcff\n[core]\n\tfsmonitor = PROGRAM\n'),
    ("with half quotes", '[core]\n\tfsmonitor = "PROGRAM"""\n'),
    ("with arguments", '[core]\n\tfsmonitor = "PROGRAM --x; true"\n'),
)
_HOOKS: Final = (
    ("post-index-change of a look", "post-index-change", ("sh", "-c", "touch a.py; git status")),
    ("post-commit", "post-commit", ("git", *_WHO, "commit", "-aqm", "x")),
    ("prepare-commit-msg", "prepare-commit-msg", ("git", *_WHO, "commit", "-aqm", "x")),
    ("commit-msg", "commit-msg", ("git", *_WHO, "commit", "-aqm", "x")),
    ("post-rewrite", "post-rewrite", ("git", *_WHO, "commit", "-q", "--amend", "-m", "x")),
    ("pre-rebase", "pre-rebase", ("git", *_WHO, "rebase", "--force-rebase", "--autostash", "topic")),
    ("reference-transaction of a stash", "reference-transaction", ("git", *_WHO, "stash")),
)

TRAPS: Final = (
    *(Trap(f"fsmonitor {name}", _written(text), _STATUS) for name, text in _FSMONITOR),
    Trap("fsmonitor behind a mark of byte order", _replaced("\ufeff[core]\n\tfsmonitor = PROGRAM\n"), _STATUS),
    Trap("fsmonitor of a linked configuration", _linked_config, _STATUS),
    Trap("fsmonitor behind six includes", _chain_of_includes, _STATUS),
    Trap(
        "fsmonitor by the address of a remote",
        _after(
            _filed(".git/more", "[core]\n\tfsmonitor = PROGRAM\n"),
            _set({"remote.a.url": "https://x/y", "includeIf.hasconfig:remote.*.url:https://x/**.path": "more"}),
        ),
        _STATUS,
    ),
    Trap(
        "fsmonitor by a folder in any case",
        _after(_filed(".git/more", "[core]\n\tfsmonitor = PROGRAM\n"), _set({"includeIf.gitdir/i:/**.path": "more"})),
        _STATUS,
    ),
    Trap(
        "filter by a macro", _written('[filter "x"]\n\tclean = PROGRAM\n', "[attr]code filter=x\n*.py code\n"), _DIFF
    ),
    Trap("filter with dots", _written('[filter "x.y.z"]\n\tclean = PROGRAM\n', "*.py filter=x.y.z\n"), _DIFF),
    Trap(
        "filter with an encoding",
        _written('[filter "x"]\n\tclean = PROGRAM\n', "*.py working-tree-encoding=latin1 filter=x\n"),
        _DIFF,
    ),
    Trap(
        "filter by quoted attributes", _written('[filter "x"]\n\tclean = PROGRAM\n', '"a.p\\171" filter=x\n'), _DIFF
    ),
    Trap("filter by attributes of the index", _attributes_of_the_index, _DIFF),
    Trap("filter in old words", _written("[filter.x]\n\tclean = PROGRAM\n", _PY), _DIFF),
    Trap(
        "textconv that is kept",
        _written('[diff "x"]\n\ttextconv = PROGRAM\n\tcachetextconv = true\n', "*.py diff=x\n"),
        ("git", "log", "-p"),
    ),
    Trap(
        "textconv of blame", _written('[diff "x"]\n\ttextconv = PROGRAM\n', "*.py diff=x\n"), ("git", "blame", "a.py")
    ),
    Trap(
        "textconv of grep",
        _written('[diff "x"]\n\ttextconv = PROGRAM\n', "*.py diff=x\n"),
        ("git", "grep", "--textconv", "one"),
    ),
    Trap("external diff of a module", _module(_external_diff_of_a_module), _DIFF),
    Trap("checkout of a module", _module(_hook_of_a_module), ("git", "submodule", "update")),
    Trap("settings of a linked work tree", _tree_with_own_settings, _STATUS, inside="tree"),
    *(Trap(f"hook {name}", _hook(hook), spring) for name, hook, spring in _HOOKS),
    Trap("hooks at a full path", _absolute_hooks, ("git", "add", "new.py")),
    Trap("hook pre-push", _after(_origin, _hook("pre-push")), ("git", "push", "-q", "origin", "main:new")),
    Trap(
        "hook post-merge",
        _hook("post-merge"),
        ("sh", "-c", "git checkout -qf topic; git merge -q main"),
    ),
    Trap(
        "gpg by a format of the log",
        _after(_signed_commit, _set({"gpg.program": "{program}", "format.pretty": "%G?"})),
        ("git", "log"),
    ),
    Trap(
        "gpg by a named format",
        _after(_signed_commit, _set({"gpg.program": "{program}", "pretty.mine": "%GS", "format.pretty": "mine"})),
        ("git", "show"),
    ),
    Trap(
        "gpg that signs",
        _set({"gpg.program": "{program}", "commit.gpgSign": "true"}),
        ("git", *_WHO, "commit", "-aqm", "x"),
    ),
    Trap(
        "key of ssh that signs",
        _set({"gpg.format": "ssh", "gpg.ssh.defaultKeyCommand": "{program}", "commit.gpgSign": "true"}),
        ("git", *_WHO, "commit", "-aqm", "x"),
    ),
    Trap("ssh by a lost tree", _lost("HEAD~1^{tree}"), ("git", "log", "-p")),
    Trap("ssh by a lost commit", _lost("HEAD~1"), ("git", "log")),
    Trap(
        "uploadpack of a fetch",
        _after(_origin, _set({"remote.origin.uploadpack": "{transport}"})),
        ("git", "fetch"),
    ),
    Trap(
        "receivepack of a push",
        _after(_origin, _set({"remote.origin.receivepack": "{transport}"})),
        ("git", "push", "origin", "main"),
    ),
    Trap(
        "another address for a push",
        _after(
            _origin,
            _set({"url.ext::{transport} x.pushInsteadOf": "{folder}/origin.git", "protocol.ext.allow": "always"}),
        ),
        ("git", "push", "origin", "main"),
    ),
    Trap(
        "credential helper of one host",
        _set({"credential.https://127.0.0.1.helper": "{program}"}),
        ("git", "credential", "fill"),
        given="protocol=https\nhost=127.0.0.1\n\n",
    ),
    Trap(
        "credential helper that remembers",
        _set({"credential.helper": "{program}"}),
        ("git", "credential", "approve"),
        given="protocol=https\nhost=127.0.0.1\nusername=a\npassword=b\n\n",
    ),
    Trap(
        "merge tool",
        _after(_conflict, _set({"mergetool.x.cmd": "{program}", "merge.tool": "x"})),
        ("git", "mergetool", "-y"),
    ),
    Trap(
        "path of a diff tool",
        _set({"difftool.meld.path": "{program}", "diff.tool": "meld"}),
        ("git", "difftool", "-y"),
    ),
    Trap("viewer of manuals", _set({"man.viewer": "x", "man.x.cmd": "{program}"}), ("git", "help", "-m", "add")),
    Trap("browser", _set({"browser.x.cmd": "{program}"}), ("git", "web--browse", "-t", "x", "http://127.0.0.1")),
    Trap("editor of a tag", _set({"core.editor": "{program}"}), ("git", *_WHO, "tag", "-a", "v1")),
    Trap("pager of the status", _set({"pager.status": "{program}"}), _STATUS, terminal=True),
    Trap(
        "trailer that is always added",
        _set({"trailer.x.key": "X", "trailer.x.command": "{program}"}),
        ("git", "interpret-trailers"),
        given="s\n\nb\n",
    ),
    Trap(
        "complaint about ignored revisions",
        _named_by_secret("blame.ignoreRevsFile"),
        ("sh", "-c", "git blame a.py 2>&1"),
        leaks=True,
    ),
    Trap(
        "complaint about settings",
        _named_by_secret("commit.template"),
        ("sh", "-c", "GIT_EDITOR=cat git -c user.name=A -c user.email=a@b commit -a 2>&1"),
        leaks=True,
    ),
    Trap(
        "linked ignore rules",
        _linked_to_secret(".git/info/exclude"),
        ("sh", "-c", "cat .git/info/exclude"),
        leaks=True,
    ),
    Trap(
        "linked description",
        _linked_to_secret(".git/COMMIT_EDITMSG"),
        ("sh", "-c", "cat .git/COMMIT_EDITMSG"),
        leaks=True,
    ),
    Trap("linked source", _linked_to_secret("pkg/s.py"), ("sh", "-c", "cat pkg/s.py"), leaks=True),
    Trap(
        "linked attributes",
        _linked_to_secret("pkg/.gitattributes"),
        ("sh", "-c", "cat pkg/.gitattributes"),
        leaks=True,
    ),
    Trap("linked manifest", _linked_to_secret("pyproject.toml"), ("sh", "-c", "cat pyproject.toml"), leaks=True),
    Trap("linked ignore file", _linked_to_secret(".ignore"), ("sh", "-c", "cat .ignore"), leaks=True),
)
