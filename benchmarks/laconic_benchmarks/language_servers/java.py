"""The truth about Java, from the compiler itself: `References.java` asks it what every name in a code base means."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from laconic.errors import CommandFailed

if TYPE_CHECKING:
    from laconic_benchmarks.language_servers.code_bases import CodeBase
    from laconic_benchmarks.language_servers.truth import Truth

_PROGRAM: Final = Path(__file__).parent / "References.java"
_OPEN: Final = ("api", "code", "comp", "file", "tree", "util")
Place = tuple[str, int]


def read(base: CodeBase, root: Path) -> Truth:
    """Definitions, uses and overrides of the code below a folder and its tests."""
    from laconic_benchmarks.language_servers.truth import Defined, TrueSymbol, Truth, choose

    keys: dict[tuple[str, int, str], str] = {}
    defined: list[Defined] = []
    uses: dict[str, set[Place]] = defaultdict(set)
    heirs: dict[str, set[str]] = defaultdict(set)
    homes: dict[str, set[Place]] = defaultdict(set)
    for line in _run(root).splitlines():
        what, key, *rest = line.split("\t")
        if what == "D":
            path, number, kind, name = rest
            defined.append(Defined(path, int(number), 0, name, kind))
            keys[path, int(number), name] = key
            homes[key].add((path, int(number)))
        elif what == "U":
            uses[key].add((rest[0], int(rest[1])))
        else:
            heirs[rest[0]].add(key)
    symbols = []
    for each in choose(defined, base.below):
        key = keys[each.path, each.line, each.name]
        below = {place for heir in heirs[key] for place in homes[heir]}
        symbols.append(
            TrueSymbol(
                path=each.path,
                line=each.line,
                name=each.name,
                kind=each.kind,
                uses=tuple(sorted(uses[key] - homes[key])),
                implementations=tuple(sorted(below)),
            )
        )
    outline = tuple((each.path, each.line, each.name, each.kind) for each in defined)
    files = {path for path, _, _, _ in outline}
    return Truth("javac", outline, tuple(symbols), tuple(sorted(files)))


def _run(root: Path) -> str:
    opened = [f"--add-exports=jdk.compiler/com.sun.tools.javac.{each}=ALL-UNNAMED" for each in _OPEN]
    files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.java"))
    listed = root.parent / f"{root.name}.files"
    listed.write_text(
        "\n".join(path for path in files if not path.endswith(("module-info.java", "package-info.java")))
    )
    done = subprocess.run(
        ["java", *opened, str(_PROGRAM), str(listed)], cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CommandFailed(f"The compiler failed: {done.stderr[-300:]}", "It needs a JDK of version 17 or later.")
    return done.stdout
