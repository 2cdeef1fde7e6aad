"""Calls that mean harm or make no sense, and a workspace with traps: a secret lies beside it, links lead there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from laconic_benchmarks.calls import Arguments

SECRET: Final = "the-secret-beside-the-workspace"
_LONG: Final = "a" * 200_000
_HUGE: Final = "x" * 1_000_000

_PATHS: Final = (
    "../secret.py",
    "../../etc/passwd",
    "/etc/passwd",
    "shop/../../secret.py",
    "link.py",
    "links/secret.py",
    "chain.py",
    "loop.py",
    "file:///etc/passwd",
    "~/.ssh/id_rsa",
    "$HOME/.bashrc",
    "..",
    "/",
    "//etc/passwd",
    "..\\secret.py",
    "../secret.patch",
    "/proc/self/environ",
    "/dev/zero",
    "/dev/stdin",
    "pipe",
    "shop/cart.py\0.txt",
    "\0",
    "",
    " ",
    ".",
    "-",
    "--help",
    "-rf",
    "a/" * 3000,
    "x" * 5000,
    "shop/" + "y" * 300 + ".py",
    "\ud800.py",
    "sh\u202eop.py",
    "shop/cart.py:-5--1",
    "shop/cart.py:9999999999999999999-99999999999999999999",
    "shop/cart.py:0-0",
    "shop/cart.py:" + "9" * 5000,
    "shop/cart.py::" + "z" * 5000,
    "shop/cart.py:20-2",
    "binary.bin",
    "long.txt",
    ".git/config",
    "%2e%2e/secret.py",
    "....//secret.py",
    "shop/./../../secret.py",
    "links/../secret.py",
    "C:\\secret.py",
    "\n../secret.py",
)
_PATTERNS: Final = (
    "/(a+)+$/",
    "/(a|a)*b$/",
    "/(a|aa)+$/",
    "/([a-z]+)*=/",
    "/^(([a-z])+.)+[A-Z]([a-z])+$/",
    "/(.*)*\\1x/",
    "/(?:(?:a*)*)*z/",
    "/" + "(" * 2000 + ")" * 2000 + "/",
    "/" + "a?" * 500 + "a" * 500 + "/",
    "/[/",
    "/(?P<x/",
    "/a{99999999}/",
    "/(a{1000}){1000}/",
    "/" + "|".join(f"w{n}" for n in range(5000)) + "/",
    "/.*.*.*.*.*.*=.*z/",
    "/\\p{L}+/",
    "/(?R)/",
    "//",
    "/(?<=a+)b/",
    "/\\",
    "'; DROP TABLE files; --",
    '" OR 1=1 --',
    "NEAR(a b, 5)",
    'a" AND "',
    "*",
    "***",
    "{" * 500,
    "[" * 5000,
    "a" * 300 + "*" * 30,
    "path:" + "*" * 2000,
    "\0",
    "\ud800\udfff\ud800",
    "\u202e" * 1000,
    _HUGE,
    "(" * 100_000,
    "word " * 200_000,
    "-tests -tests",
)


def _nested(depth: int) -> object:
    made: object = "x"
    for _ in range(depth):
        made = [made]
    return made


def _wrong() -> list[object]:
    return [
        None,
        True,
        -1,
        0,
        1e308,
        float("inf"),
        float("nan"),
        10**400,
        -(10**30),
        [],
        {},
        [[]],
        [None],
        [{}],
        {"a": {"b": []}},
        _nested(900),
        _nested(100_000),
        "[" * 100_000,
        '{"a":' * 50_000,
        "\ud83d",
        ["\udcff"],
        _HUGE,
        ["x"] * 20_000,
        {"path": {"path": 1}},
        [1, "2", None, {"path": "../secret.py"}],
        "9" * 10_000,
        "null",
        "1e999",
        b"bytes".hex(),
    ]


def hostile_calls() -> list[tuple[str, Arguments]]:
    """At least 300 calls."""
    return [*_escapes(), *_patterns(), *_types(), *_edits(), *_names()]


def _escapes() -> Iterator[tuple[str, Arguments]]:
    for path in _PATHS:
        yield "read", {"targets": [path]}
        yield "map", {"path": path}
    others = (("report", "file"), ("diff", "states"), ("diff", "path"), ("search", "path"), ("inspect", "symbol"))
    for path, (tool, name) in zip(_PATHS, cycle(others), strict=False):
        asked: Arguments = {"query": "secret"} if tool == "search" else {}
        yield tool, {**asked, name: path}
    for path in ("../secret.patch", "/etc/passwd", "link.patch", "--output=../stolen.diff", "-O/etc/passwd"):
        yield "diff", {"states": path}
        yield "report", {"file": path, "since": path}


def _patterns() -> Iterator[tuple[str, Arguments]]:
    for pattern in _PATTERNS:
        yield "search", {"query": pattern}
    for pattern, tool in zip(_PATTERNS, cycle(("inspect", "context", "trace", "recall")), strict=False):
        name = {"inspect": "symbol", "context": "task", "trace": "symbol", "recall": "ref"}[tool]
        yield tool, {name: pattern}


def _types() -> Iterator[tuple[str, Arguments]]:
    places = (
        ("search", "query"),
        ("search", "limit"),
        ("inspect", "symbol"),
        ("read", "targets"),
        ("map", "path"),
        ("context", "task"),
        ("trace", "depth"),
        ("diff", "path"),
        ("edit", "edits"),
        ("report", "start"),
        ("recall", "lines"),
        ("read", "offset"),
        ("map", "budget"),
        ("read", "format"),
        ("search", "in"),
        ("workspace", "action"),
    )
    needed: dict[str, Arguments] = {
        "search": {"query": "cart"},
        "trace": {"symbol": "Cart"},
        "read": {"targets": "shop/cart.py"},
    }
    for value, (tool, name) in islice(zip(cycle(_wrong()), cycle(places), strict=False), 90):
        yield tool, {**needed.get(tool, {}), name: value}
    for value in (-1, -(10**12), 10**12, "many"):
        yield "read", {"path": "shop/cart.py", "start": value, "end": value}
        yield "read", {"path": "shop/cart.py", "offset": value, "limit": value}
        yield "search", {"query": "cart", "limit": value, "offset": value}


def _edits() -> Iterator[tuple[str, Arguments]]:
    for path in _PATHS[:18]:
        yield "edit", {"edits": [{"path": path, "find": "a", "text": "b"}], "dry_run": True}
    fields: tuple[dict[str, object], ...] = (
        {"find": "\ud800", "text": "x"},
        {"find": "a" * 1_000_000, "text": "b"},
        {"tag": "\ud800", "start": 1, "text": ""},
        {"tag": "abcdef", "start": -5, "end": 10**12, "text": "x"},
        {"tag": "abcdef", "start": "9" * 5000, "text": "x"},
        {"find": "", "text": ""},
        {"start": [1], "tag": {}},
        {"create": True, "text": "\ud800"},
        {"find": "Cart", "count": 10**30},
    )
    for each in fields:
        yield "edit", {"edits": [{"path": "shop/cart.py", **each}], "dry_run": True}


def _names() -> Iterator[tuple[str, Arguments]]:
    for name in ("", "\0", "x" * 1_000_000, "\ud800", "rm -rf /", "laconic.", "__class__"):
        yield name, {"query": "cart"}
        yield "search", {"query": "cart", name: "value"}


def lay_out(folder: Path) -> Path:
    """A small workspace with traps, and what must not be read beside it."""
    root = folder / "trapped"
    (root / "shop").mkdir(parents=True, exist_ok=True)
    for name in ("secret.py", "secret.patch"):
        (folder / name).write_text(f"secret = '{SECRET}'\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+{SECRET}\n", "utf-8")
    (root / "shop/cart.py").write_text("class Cart:\n    def add(self, a):\n        return a\n", "utf-8")
    (root / "long.txt").write_text(f"{_LONG}!\n" + "a" * 5_000 + "!\n", "utf-8")
    (root / "binary.bin").write_bytes(bytes(range(256)) * 40)
    links = {"link.py": "../secret.py", "link.patch": "../secret.patch", "links": "..", "chain.py": "link.py"}
    for name, target in {**links, "loop.py": "loop.py", "passwd": "/etc/passwd"}.items():
        if not (root / name).is_symlink():
            (root / name).symlink_to(target)
    if not (root / "pipe").exists():
        os.mkfifo(root / "pipe")
    return root
