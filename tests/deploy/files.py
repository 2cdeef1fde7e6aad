"""The operators' files as data."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from laconic.cli.main import command, parser_for
from laconic.config import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "laconic"
HAPROXY = shutil.which("haproxy") or "/usr/sbin/haproxy"
OTHERS = {"LACONIC_CONFIG"}  # variables of the program that are no settings
KNOWN = {row.variable for row in SETTINGS} | OTHERS


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return found


def dockerfile() -> str:
    """With its continued lines joined."""
    return (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


def dockerfile_words(instruction: str) -> list[str]:
    """The last instruction of this name, written as a list."""
    found = re.findall(rf"^{instruction} (\[.*\])$", dockerfile(), re.MULTILINE)
    words: list[str] = json.loads(found[-1])
    return words


def parse_command(words: list[str]) -> argparse.Namespace:
    """Words behind `laconic`, read by the program's own parser, which refuses options that do not exist."""
    return parser_for(words[0], command(words[0])).parse_args(words[1:])


def laconic_variables(text: str) -> set[str]:
    return set(re.findall(r"\bLACONIC_[A-Z_]+\b", text))


def make_certificate(path: Path) -> None:
    """A certificate for this machine with its key, in one file as HAProxy wants them."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")
    key = path.with_suffix(".key")
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    words += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(path)]
    subprocess.run(["openssl", *words], capture_output=True, check=True)
    with path.open("ab") as both:
        both.write(key.read_bytes())
