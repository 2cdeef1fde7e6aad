"""The servers that we know: how they are started, what they read, and what they need to find beside the code."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from laconic_benchmarks.language_servers import java

if TYPE_CHECKING:
    from laconic_benchmarks.language_servers.code_bases import CodeBase
    from laconic_benchmarks.language_servers.truth import Truth

_FEATURE: Final = re.compile(r"feature\s*=\s*\"([^\"]+)\"")
_PROGRAMS: Final = (
    "src/main.rs",
    "src/bin/*.rs",
    "main.rs",
    "tests/*.rs",
    "tests/*/main.rs",
    "examples/*.rs",
    "benches/*.rs",
)
_RUST_SOURCES: Final = ("/usr/src/rustc-*/library", "/usr/lib/rustlib/src/rust/library")


def _need_nothing(root: Path, files: list[str]) -> None:
    """The server finds what it needs by itself."""


class Server(msgspec.Struct, frozen=True):
    """One way to learn the truth about a language."""

    command: tuple[str, ...]
    suffixes: tuple[str, ...]
    identifier: str = ""  # of the language, in the protocol
    options: dict[str, Any] = {}
    keeps_open: bool = False  # it knows only files that are open
    ask_meaning: str = "definition"  # what it answers only where it knows what a name means
    prepare: Callable[[Path, list[str]], None] = _need_nothing
    read: Callable[[CodeBase, Path], Truth] | None = None  # for a compiler instead of a server

    @property
    def is_installed(self) -> bool:
        return shutil.which(self.command[0]) is not None

    def language_id(self, path: str) -> str:
        return "typescriptreact" if path.endswith(".tsx") else self.identifier


def _write_pyright_settings(root: Path, files: list[str]) -> None:
    """All files count, whatever the project checks."""
    (root / "pyrightconfig.json").write_text(json.dumps({"include": ["."], "typeCheckingMode": "off"}))


def _write_compile_commands(root: Path, files: list[str]) -> None:
    """Every source file with all folders of headers, as a compiler would be called."""
    folders = {str((root / path).parent) for path in files if path.endswith((".h", ".hpp"))}
    above = {str(root), str(root / "include"), str(root / "src")}
    flags = [f"-I{folder}" for folder in sorted(folders | above)]
    commands = []
    for path in files:
        if path.endswith((".h", ".hpp")):
            continue
        plain = path.endswith(".c")
        compiler = ["cc", "-std=gnu11"] if plain else ["c++", "-std=c++17", "-DLEVELDB_PLATFORM_POSIX"]
        commands.append({"directory": str(root), "file": path, "arguments": [*compiler, *flags, "-c", path]})
    (root / "compile_commands.json").write_text(json.dumps(commands))


def _write_rust_project(root: Path, files: list[str]) -> None:
    """The crates of a repository with all their features, without what they need from elsewhere."""
    crates: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}
    needs: list[list[str]] = []
    for manifest in sorted(root.rglob("Cargo.toml")):
        about = tomllib.loads(manifest.read_text("utf-8"))
        if "package" not in about:
            continue
        package = about["package"]["name"]
        name = about.get("lib", {}).get("name", package).replace("-", "_")
        text = "".join(path.read_text("utf-8", "replace") for path in manifest.parent.rglob("*.rs"))
        features = {*about.get("features", {}), *_FEATURE.findall(text)}
        needed = [*about.get("dependencies", {}), *about.get("dev-dependencies", {})]
        library = manifest.parent / about.get("lib", {}).get("path", "src/lib.rs")
        for entry in _find_crate_roots(manifest.parent, library):
            if entry == library:
                numbers[package] = len(crates)
                needs.append(needed)
            else:
                needs.append([*needed, package])
            crates.append(
                {
                    "root_module": str(entry),
                    "display_name": name,
                    "edition": str(about["package"].get("edition", "2021")),
                    "cfg": ["test", *(f'feature="{each}"' for each in sorted(features))],
                    "deps": [],
                }
            )
    for crate, wanted in zip(crates, needs, strict=True):
        found = [numbers[each] for each in wanted if each in numbers]
        crate["deps"] = [{"crate": each, "name": crates[each]["display_name"]} for each in found]
    project = {"sysroot_src": _rust_source(), "crates": crates}
    (root / "rust-project.json").write_text(json.dumps(project))


def _find_crate_roots(package: Path, library: Path) -> list[Path]:
    """The files that a compiler would be called with: the library, programs, tests, examples."""
    found = [library] if library.is_file() else []
    for pattern in _PROGRAMS:
        found += sorted(each for each in package.glob(pattern) if each != library)
    return found


def _rust_source() -> str:
    """The source of the standard library, in the places where systems put it."""
    program = Path(shutil.which("rust-analyzer") or "/").resolve()
    for above in (Path("/"), *program.parents):
        for pattern in _RUST_SOURCES:
            if found := sorted(above.glob(pattern.lstrip("/"))) + sorted(above.glob("root" + pattern)):
                return str(found[-1])
    return ""


_CLANGD: Final = ("clangd", "--background-index", "-j=2", "--limit-references=0", "--limit-results=0")
_RUST_OPTIONS: Final = {"checkOnSave": False, "procMacro": {"enable": False}, "cachePriming": {"enable": True}}
SERVERS: Final = {
    "python": Server(("pyright-langserver", "--stdio"), (".py",), "python", prepare=_write_pyright_settings),
    "typescript": Server(("typescript-language-server", "--stdio"), (".ts", ".tsx"), "typescript", keeps_open=True),
    "go": Server(("gopls", "serve"), (".go",), "go"),
    "rust": Server(("rust-analyzer",), (".rs",), "rust", _RUST_OPTIONS, prepare=_write_rust_project),
    "c": Server(_CLANGD, (".c", ".h"), "c", ask_meaning="hover", prepare=_write_compile_commands),
    "cpp": Server(
        _CLANGD, (".cc", ".cpp", ".h", ".hpp"), "cpp", ask_meaning="hover", prepare=_write_compile_commands
    ),
    "java": Server(("java",), (".java",), "java", read=java.read),
}
