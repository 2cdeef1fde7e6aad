"""A home folder and a project with the configuration files of a client, and what the client would do there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from laconic.clients.wrapped_client import DefaultUpstreams, LaunchContext, WrappedClient

DEFAULTS = DefaultUpstreams(
    anthropic="https://anthropic.default", openai="https://openai.default", gemini="https://g.default"
)
GATEWAY = "http://127.0.0.1:1"
SERVER = ["python", "-m", "laconic", "mcp"]


@dataclass(frozen=True)
class Case:
    """One configuration, and the base URLs by provider that the client uses with it."""

    says: str
    expected: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)  # by path in the home folder; the project is `project`
    environment: Mapping[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.says.replace(" ", "-")


@dataclass(frozen=True)
class Refused:
    """One configuration that the gateway cannot serve, and a word of the reason."""

    says: str
    reason: str
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.says.replace(" ", "-")


def situation(home: Path, case: Case | Refused) -> LaunchContext:
    """Write the files; `HOME` in texts and values is the home folder."""
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    for name, text in case.files.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("HOME", str(home)), "utf-8")
    environment = {name: value.replace("HOME", str(home)) for name, value in case.environment.items()}
    args = tuple(word.replace("HOME", str(home)) for word in case.args)
    return LaunchContext(project, {"HOME": str(home), **environment}, args)


def found(client: WrappedClient, seen: LaunchContext) -> dict[str, str]:
    """Base URLs by the client's own name for the provider."""
    return {one.provider: one.url for one in client.find_upstreams(seen, DEFAULTS)}
