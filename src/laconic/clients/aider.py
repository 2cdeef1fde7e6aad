"""aider: one base URL per provider, in variables that its `.env` files and its options set over the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from laconic.clients.client import Client
from laconic.clients.command_options import last_value, options
from laconic.clients.config_files import project_root, read_dotenv, read_flat_yaml
from laconic.clients.setup import ClientFolders
from laconic.clients.wrapped_client import (
    DefaultUpstreams,
    Launch,
    LaunchContext,
    Upstream,
    WrappedClient,
    bypass_proxy,
    upstream,
)
from laconic.errors import Unroutable
from laconic.sessions.recorded.aider import read_history
from laconic.sessions.recorded.record import RecordedSession


class _Provider(msgspec.Struct, frozen=True):
    """The variables that name its address, the first that is set counts, and its own address."""

    variables: tuple[str, ...]
    url: str


_OPENAI: Final = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_READ: Final = frozenset(  # options that name a file which is only read
    {"--read", "-c", "--config", "--env-file", "-f", "--message-file", "--load", "--aiderignore"}
)
_MODELS: Final = ("model", "weak-model", "editor-model")


class Aider(WrappedClient):
    """Reads what aider reads. It has no tools of others, so that the code plane is not offered."""

    silence = "it asked no model, or the settings of its model name another address"
    one_shot: tuple[str, ...] = ("-m", "--message", "-f", "--message-file")

    def find_upstreams(self, seen: LaunchContext, defaults: DefaultUpstreams) -> tuple[Upstream, ...]:
        _refuse_other_repository(seen)
        variables = _variables(seen)
        known = _providers(defaults)
        for option in _MODELS:
            model = _option(seen, variables, option)
            maker, slash, _ = model.partition("/")
            if slash and maker.removesuffix("_chat") not in known:
                raise Unroutable(f"aider's model {model!r} belongs to a provider that Laconic does not know.")
        found = []
        for name, provider in known.items():
            named = next((variable for variable in provider.variables if variables.get(variable)), "")
            source = named or provider.variables[0]
            found.append(upstream(name, variables.get(named, "") or provider.url, source))
        return tuple(found)

    def connection_variables(self, seen: LaunchContext) -> Mapping[str, str]:
        return _variables(seen)

    def launch(
        self, seen: LaunchContext, upstreams: Sequence[Upstream], gateway: str, code_plane: Sequence[str]
    ) -> Launch:
        if not gateway:
            return Launch(("aider", *seen.args))
        known = _providers(DefaultUpstreams("", "", ""))
        # `--set-env` comes after every file; on the command line it replaces the list of the configuration.
        if list(options(seen.args, "--set-env")):
            given = []
        else:
            given = _configured_variables(seen)
        settings = [*given, *(f"{known[one.name].variables[0]}={one.through(gateway)}" for one in upstreams)]
        for name, value in bypass_proxy(_variables(seen)).items():
            settings.append(f"{name}={value}")
        words: list[str] = []
        for setting in settings:
            words.extend(("--set-env", setting))
        return Launch(("aider", *seen.args, *words))


def _refuse_other_repository(seen: LaunchContext) -> None:
    """Where the command line names files of another repository, aider reads that repository's settings."""
    own, before = project_root(seen.folder), ""
    for word in seen.args:
        path = seen.folder / word
        is_file = not word.startswith("-") and before not in _READ and path.exists()
        if is_file and project_root(path.resolve()) not in {own, None}:
            raise Unroutable(
                f"{word} belongs to another repository, whose settings aider would use.",
                f"Run `laconic wrap aider` in {project_root(path.resolve())}.",
            )
        before = word


def _providers(defaults: DefaultUpstreams) -> dict[str, _Provider]:
    return {
        "openai": _Provider(_OPENAI, f"{defaults.openai}/v1"),
        "anthropic": _Provider(("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"), defaults.anthropic),
        "gemini": _Provider(("GEMINI_API_BASE",), f"{defaults.gemini}/v1beta"),
        "openrouter": _Provider(("OPENROUTER_API_BASE",), "https://openrouter.ai/api/v1"),
        "deepseek": _Provider(("DEEPSEEK_API_BASE",), "https://api.deepseek.com/beta"),
        "ollama": _Provider(("OLLAMA_API_BASE",), "http://localhost:11434"),
    }


def _variables(seen: LaunchContext) -> dict[str, str]:
    """The environment as aider has it before it asks a model: the later win."""
    found = dict(seen.environment)
    for file in _dotenv_files(seen):
        found |= read_dotenv(file)
    given = [value for _, _, value in options(seen.args, "--set-env")] or _configured_variables(seen)
    for setting in given:
        name, _, value = setting.partition("=")
        found[name.strip()] = value.strip()
    if base := _option(seen, found, "openai-api-base"):
        found["OPENAI_API_BASE"] = base
    return found


def _dotenv_files(seen: LaunchContext) -> list[Path]:
    root = project_root(seen.folder)
    files = [seen.home / ".aider" / "oauth-keys.env", seen.home / ".env"]
    files += [root / ".env"] if root else []
    files.append(seen.folder / ".env")
    configured = _configuration(seen).get("env-file", "")
    named = last_value(seen.args, "--env-file") or seen.variable("AIDER_ENV_FILE") or configured
    if isinstance(named, str) and named:
        files.append(seen.folder / named)
    return files


def _configuration(seen: LaunchContext) -> dict[str, str | list[str]]:
    named = last_value(seen.args, "-c", "--config")
    if named:
        return read_flat_yaml(seen.folder / named)
    root = project_root(seen.folder)
    folders = [seen.home, *([root] if root else []), seen.folder]
    found: dict[str, str | list[str]] = {}
    for folder in folders:
        found |= read_flat_yaml(folder / ".aider.conf.yml")
    return found


def _option(seen: LaunchContext, variables: dict[str, str], name: str) -> str:
    """An option of aider: the command line, else its variable, else the configuration."""
    variable = "AIDER_" + name.upper().replace("-", "_")
    configured = _configuration(seen).get(name, "")
    given = last_value(seen.args, f"--{name}") or variables.get(variable, "")
    return given or (configured if isinstance(configured, str) else "")


def _configured_variables(seen: LaunchContext) -> list[str]:
    held = _configuration(seen).get("set-env", [])
    if isinstance(held, str) and held:
        return [held]
    return list(held)


def _find_recorded(places: ClientFolders, since: float) -> Iterator[RecordedSession]:
    """Those of this project: aider keeps them nowhere else."""
    return read_history(places.root / ".aider.chat.history.md", since)


CLIENT: Final = Client(
    name="aider",
    title="aider",
    launcher=Aider(),
    recorded=_find_recorded,
    project_names=(".aider.conf.yml",),  # it names commands for tests and linters
)
