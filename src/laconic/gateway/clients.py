"""How each client is pointed at the gateway and at the code plane: by words and variables only, nothing on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from laconic.errors import UnknownName

CLIENTS: Final = ("claude", "codex", "opencode")
CHATGPT: Final = "https://chatgpt.com/backend-api/codex"  # where Codex goes when it is signed in without a key


class Launch(msgspec.Struct, frozen=True):
    """A command line, and the variables that it is run with."""

    words: tuple[str, ...]
    variables: Mapping[str, str] = {}


def launch(
    client: str, base: str, code_plane: Sequence[str], args: Sequence[str], environment: Mapping[str, str]
) -> Launch:
    """The command that runs a client through the gateway; `code_plane` starts our MCP server, or is empty."""
    if client == "claude":
        return _claude(base, code_plane, args)
    if client == "codex":
        return _codex(base, code_plane, args, signed_in="OPENAI_API_KEY" not in environment)
    if client == "opencode":
        return _opencode(base, code_plane, args)
    raise UnknownName("client", client, CLIENTS)


def _claude(base: str, code_plane: Sequence[str], args: Sequence[str]) -> Launch:
    words = ["claude"]
    if code_plane:
        server = {"type": "stdio", "command": code_plane[0], "args": list(code_plane[1:])}
        words.append("--mcp-config=" + json.dumps({"mcpServers": {"laconic": server}}))
    return Launch((*words, *args), {"ANTHROPIC_BASE_URL": base})


def _codex(base: str, code_plane: Sequence[str], args: Sequence[str], *, signed_in: bool) -> Launch:
    """Settings of Codex are TOML values; a JSON string or list of strings is one too."""
    provider = {
        "name": '"laconic"',
        "base_url": json.dumps(f"{base}/chatgpt" if signed_in else f"{base}/v1"),
        "wire_api": '"responses"',
        **({"requires_openai_auth": "true"} if signed_in else {"env_key": '"OPENAI_API_KEY"'}),
    }
    table = ", ".join(f"{name} = {value}" for name, value in provider.items())
    words = ["codex", "-c", f"model_providers.laconic={{ {table} }}", "-c", 'model_provider="laconic"']
    if code_plane:
        words += ["-c", f"mcp_servers.laconic.command={json.dumps(code_plane[0])}"]
        words += ["-c", f"mcp_servers.laconic.args={json.dumps(list(code_plane[1:]))}"]
    return Launch((*words, *args))


def _opencode(base: str, code_plane: Sequence[str], args: Sequence[str]) -> Launch:
    options = {"options": {"baseURL": f"{base}/v1"}}
    config: dict[str, object] = {"provider": {"anthropic": options, "openai": options}}
    if code_plane:
        config["mcp"] = {"laconic": {"type": "local", "command": list(code_plane), "enabled": True}}
    return Launch(("opencode", *args), {"OPENCODE_CONFIG_CONTENT": json.dumps(config)})
