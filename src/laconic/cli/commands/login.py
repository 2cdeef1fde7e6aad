"""Log in to a team's gateway with your browser, and get a key.

Laconic keeps the key in a file that only you can read. `laconic login --key URL` prints it, for a client's settings or
for Claude Code's `apiKeyHelper`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from laconic.config import Settings
from laconic.errors import BadSetting, UsageError
from laconic.render.escape_control import visible_name

if TYPE_CHECKING:
    from laconic.gateway.device_login import DeviceCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="address of the team's gateway")
    parser.add_argument("--key", action="store_true", help="print the key from an earlier login")
    parser.add_argument("--remove", action="store_true", help="remove that key from this machine")


def run(args: argparse.Namespace, settings: Settings) -> int:
    url = args.url.rstrip("/")
    file = settings.state_dir() / "team-keys" / sha256(url.encode()).hexdigest()[:16]
    if args.remove:
        file.unlink(missing_ok=True)
        print("The key is no longer on this machine. It stays in force until it is revoked or expires.")
        return 0
    if args.key:
        print(_read(file, url))
        return 0
    from laconic.gateway.device_login import log_in  # an HTTP client: not for `--help`

    issued = asyncio.run(log_in(url, _tell))
    _write(file, issued.key)
    print(f"You are {visible_name(issued.owner)}. Your key is kept in {file}.")
    print(f"Claude Code:  export ANTHROPIC_BASE_URL={url} ANTHROPIC_AUTH_TOKEN=$(laconic login --key {url})")
    print(f"OpenAI's API: export OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY=$(laconic login --key {url})")
    return 0


def _tell(code: DeviceCode) -> None:
    """What a provider says is shown, whatever it is, and does nothing to the terminal."""
    print(f"Open {visible_name(code.verification_uri_complete or code.verification_uri)}", file=sys.stderr)
    print(f"and confirm the code {visible_name(code.user_code)}", file=sys.stderr, flush=True)


def _read(file: Path, url: str) -> str:
    try:
        return file.read_text("ascii").strip()
    except OSError:
        raise UsageError(f"There is no key for {url}.", f"Log in: laconic login {url}") from None


def _write(file: Path, key: str) -> None:
    """For the owner only, from the first byte on."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.unlink(missing_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(key + "\n")
    except OSError as error:
        raise BadSetting(f"{file} cannot be written: {error.strerror}.", "Name another LACONIC_STATE_DIR.") from None
