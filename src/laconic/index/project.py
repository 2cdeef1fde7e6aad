"""What a project says about itself in its manifests: name, version, dependencies, commands.

Reads pyproject.toml, setup.cfg, requirements files, package.json, Cargo.toml, go.mod, pom.xml and Gradle files. A
manifest that cannot be read says nothing; it is never an error.
"""

from __future__ import annotations

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

_LARGEST: Final = 300_000  # characters of a manifest in TOML
_DOTS: Final = 100  # in one line of it
_REQUIREMENTS: Final = re.compile(r"requirements[\w.-]*\.txt")
_NAME: Final = re.compile(r"^[A-Za-z0-9@][\w./@-]*")


class Project(msgspec.Struct, frozen=True):
    """One manifest."""

    path: str
    kind: str
    name: str = ""
    version: str = ""
    dependencies: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()  # entry points and scripts
    modules: tuple[str, ...] = ()  # members of a workspace
    entries: tuple[str, ...] = ()  # files with which it begins, as it says itself


def project(path: str, text: str) -> Project | None:
    """The manifest at a path, or None where it is none or cannot be read."""
    name = PurePosixPath(path).name
    reader = _READERS.get(name) or (_requirements if _REQUIREMENTS.fullmatch(name) else None)
    if reader is None:
        return None
    try:
        return reader(path, text)
    except (ValueError, KeyError, TypeError, AttributeError, configparser.Error, RecursionError):
        return None


def is_manifest(path: str) -> bool:
    """Whether a path is one that `project` reads."""
    name = path.rpartition("/")[2]
    return name in _READERS or (name.startswith("requirements") and _REQUIREMENTS.fullmatch(name) is not None)


def _names(items: Iterable[object]) -> tuple[str, ...]:
    found = (_NAME.match(str(item).strip()) for item in items)
    return tuple(dict.fromkeys(match[0] for match in found if match))


def _read_toml(text: str) -> dict[str, Any]:
    """A manifest; one that would take thousands of times its size to read is broken."""
    if len(text) > _LARGEST or any(line.count(".") > _DOTS for line in text.split("\n")):
        raise ValueError("too large")
    return tomllib.loads(text)


def _pyproject(path: str, text: str) -> Project:
    data = _read_toml(text)
    about = data.get("project") or {}
    poetry = (data.get("tool") or {}).get("poetry") or {}
    needs = about.get("dependencies") or [key for key in poetry.get("dependencies") or {} if key != "python"]
    scripts = about.get("scripts") or poetry.get("scripts") or {}
    commands = tuple(f"{key} = {value}" for key, value in scripts.items())
    name = about.get("name") or poetry.get("name") or ""
    return Project(
        path=path,
        kind="Python",
        name=name,
        version=str(about.get("version") or poetry.get("version") or ""),
        dependencies=_names(needs),
        commands=commands,
    )


def _setup_cfg(path: str, text: str) -> Project:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    needs = parser.get("options", "install_requires", fallback="").splitlines()
    about: Mapping[str, str] = {}
    if parser.has_section("metadata"):
        about = parser["metadata"]
    return Project(
        path=path,
        kind="Python",
        name=str(about.get("name", "")),
        version=str(about.get("version", "")),
        dependencies=_names(needs),
    )


def _requirements(path: str, text: str) -> Project:
    return Project(path, "Python", dependencies=_names(line for line in text.splitlines() if line[:1].isalnum()))


def _package_json(path: str, text: str) -> Project:
    data: dict[str, Any] = json.loads(text)
    scripts = data.get("scripts") or {}
    spaces = data.get("workspaces") or []
    if isinstance(spaces, dict):
        spaces = spaces.get("packages", [])
    return Project(
        path=path,
        kind="Node",
        name=str(data.get("name") or ""),
        version=str(data.get("version") or ""),
        dependencies=tuple(data.get("dependencies") or {}),
        commands=tuple(f"npm run {key}" for key in scripts),
        modules=tuple(map(str, spaces)),
        entries=tuple(_list_entries(path, data)),
    )


def _list_entries(path: str, data: Mapping[str, Any]) -> Iterator[str]:
    """The files that a package names as its own beginning and as that of its programs."""
    programs = data.get("bin")
    named = [data.get("main"), data.get("module"), *(programs.values() if isinstance(programs, dict) else [programs])]
    for each in named:
        if isinstance(each, str) and each:
            yield posixpath.normpath(posixpath.join(posixpath.dirname(path), each))


def _cargo(path: str, text: str) -> Project:
    data = _read_toml(text)
    about = data.get("package") or {}
    version = about.get("version")
    return Project(
        path=path,
        kind="Rust",
        name=str(about.get("name") or ""),
        version=version if isinstance(version, str) else "",
        dependencies=tuple(data.get("dependencies") or {}),
        commands=tuple(f"bin {item.get('name')}" for item in data.get("bin") or []),
        modules=tuple(map(str, (data.get("workspace") or {}).get("members") or [])),
    )


def _go(path: str, text: str) -> Project:
    module = re.search(r"^module\s+(\S+)", text, re.MULTILINE)
    needs = re.findall(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/[^\s]+)\s+v[^\s]+(?!.*// indirect)", text, re.MULTILINE)
    version = re.search(r"^go\s+(\S+)", text, re.MULTILINE)
    return Project(
        path=path,
        kind="Go",
        name=module[1] if module else "",
        version=f"go {version[1]}" if version else "",
        dependencies=tuple(needs),
    )


def _pom(path: str, text: str) -> Project:
    outside = re.sub(
        r"<(dependencies|build|parent|dependencyManagement|profiles)>.*?</\1>", "", text, flags=re.DOTALL
    )

    def first(tag: str) -> str:
        match = re.search(rf"<{tag}>\s*([^<]+?)\s*</{tag}>", outside)
        if match:
            return match[1]
        return ""

    needs = re.findall(r"<dependency>.*?<artifactId>\s*([^<]+?)\s*</artifactId>.*?</dependency>", text, re.DOTALL)
    modules = re.findall(r"<module>\s*([^<]+?)\s*</module>", text)
    return Project(
        path=path,
        kind="Maven",
        name=first("artifactId"),
        version=first("version"),
        dependencies=_names(needs),
        commands=(),
        modules=tuple(modules),
    )


def _gradle(path: str, text: str) -> Project:
    """Dependencies in all notations: `"group:name:version"`, `project(":core")`, `projects.core`, `libs.junit`, maps.

    Modules are those that a settings file includes; `include` means other things elsewhere.
    """
    needs: list[str] = []
    for line in _GRADLE_NEEDS.findall(text):
        for found in _GRADLE_WHAT.finditer(line):
            parts = []
            for part in found.groups():
                if part:
                    parts.append(part)
            needs.append(":".join(parts).removesuffix(".get"))
            break
    modules: list[str] = []
    if PurePosixPath(path).name.startswith("settings."):
        for listed in _GRADLE_INCLUDES.findall(text):
            for name in re.findall(r"[\"']([^\"']+)[\"']", "".join(listed)):
                modules.append(re.sub(r"\$\{[^}]*\}|\$\w+", "*", name).strip(":").replace(":", "/"))
        for build in re.findall(r"^\s*includeBuild\b\s*\(?\s*[\"']([^\"']+)", text, re.MULTILINE):
            modules.append(f"{build} (a separate build)")
    named = re.search(r"rootProject\.name\s*=\s*[\"']([^\"']+)", text)
    name = named[1] if named else ""
    return Project(
        path=path, kind="Gradle", name=name, dependencies=tuple(dict.fromkeys(needs)), modules=tuple(modules)
    )


_GRADLE_NEEDS: Final = re.compile(
    r"(?:^|[{;])\s*(?:\w*(?:[iI]mplementation|[aA]pi|[cC]ompileOnly|[rR]untimeOnly|[cC]lasspath|[pP]rocessor|[cC]ompile)|kapt|ksp)"
    r"[ (]+(.+)$",
    re.MULTILINE,
)
# What is included, over lines, or one project by a function of the build's own, such as `includeProject("core")`.
_GRADLE_INCLUDES: Final = re.compile(
    r"^\s*include\b\s*(?:\(([^)]*)\)|([^\n(]+))|^\s*include(?!Build\b|Flat\b)[A-Z]\w*\s*\(\s*([\"'][^\"']+[\"'])",
    re.MULTILINE,
)
_GRADLE_WHAT: Final = re.compile(
    r"project\(\s*(?:path:\s*)?[\"'](:[^\"']+)[\"']|(libs\.[\w.]+\w)|(projects\.[\w.]+)|group:\s*[\"']([^\"']+)[\"'],\s*name:\s*[\"']([^\"']+)"
    r"|[\"']([\w.-]+:[\w.-]+)(?::[^\"']*)?[\"']"
)
_READERS: Final[dict[str, Callable[[str, str], Project]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "package.json": _package_json,
    "Cargo.toml": _cargo,
    "go.mod": _go,
    "pom.xml": _pom,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
    "settings.gradle": _gradle,
    "settings.gradle.kts": _gradle,
}
