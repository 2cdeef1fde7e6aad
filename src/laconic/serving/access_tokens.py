"""Secrets that a client sends to be let in: where they are kept, and how they are compared."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from laconic.errors import BadSetting

FILE: Final = "token"  # in the state folder
HEADER: Final = "x-laconic-token"
_LEAST: Final = 16  # characters of a token that we made ourselves


def own_token(folder: Path, *, make: bool = True) -> str:
    """The token of this user, in a file that nobody else can read. Made on first use, or empty when there is none."""
    path = folder / FILE
    try:
        if not path.exists():
            if not make:
                return ""
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _make(path)
        return _read_own(path)
    except OSError as error:
        raise BadSetting(
            f"The token in {path} cannot be used: {error.strerror}.",
            "Make the folder writable, name another with LACONIC_STATE_DIR, or set gateway.token.",
        ) from None


def read_token(path: Path) -> str:
    """The token in a file that the user names: its only line."""
    try:
        token = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not plain text"
        raise BadSetting(f"No token in {path}: {reason}.", "Write one line of letters and digits into it.") from None
    if not token or not token.isprintable() or " " in token:
        raise BadSetting(f"No token in {path}.", "Write one line of letters and digits into it.")
    return token


def is_token(given: str, token: str) -> bool:
    """Whether they are equal, compared in constant time; an empty token admits nobody."""
    return bool(token) and hmac.compare_digest(given.encode(), token.encode())


def has_token(headers: Mapping[str, str], token: str) -> bool:
    """Whether a request carries the token: in `x-laconic-token`, or as a bearer token. Names are in lower case."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    return is_token(headers.get(HEADER, ""), token) or (
        scheme.lower() == "bearer" and is_token(bearer.strip(), token)
    )


def ask_for_token(scope: Scope) -> Response:
    """The answer to a request without the token."""
    text = f"Send the token as `Authorization: Bearer TOKEN` or as `{HEADER}: TOKEN`.\n"
    return PlainTextResponse(text, 401, {"www-authenticate": "Bearer"})


class TokenCheck:
    """An ASGI application in front of another, which only requests with the token reach."""

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        refuse: Callable[[Scope], Response] = ask_for_token,
        has_token: Callable[[Mapping[str, str], str], bool] = has_token,
    ) -> None:
        self._app = app
        self._token = token
        self._refuse = refuse
        self._has_token = has_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        open = scope["type"] != "http" or self._has_token(Headers(scope=scope), self._token)
        app = self._app if open else self._refuse(scope)
        await app(scope, receive, send)


def _make(path: Path) -> None:
    """Write it whole under another name first: two processes may start at once, and the first one's token stays."""
    handle, name = mkstemp(dir=path.parent, prefix=".token")  # mkstemp makes files for their owner only
    written = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
        with suppress(FileExistsError):
            path.hardlink_to(written)
    finally:
        written.unlink()


def _read_own(path: Path) -> str:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(handle, "r", encoding="ascii", errors="replace") as file:
        about = os.fstat(file.fileno())
        token = file.read(1_000).strip()
    private = os.name == "nt" or (about.st_uid == os.geteuid() and not stat.S_IMODE(about.st_mode) & 0o077)
    if not private:
        raise BadSetting(f"Others may have read {path}.", "Remove the file; the next start creates a new token.")
    if len(token) < _LEAST or not token.isascii() or " " in token:
        raise BadSetting(f"{path} contains no token.", "Remove the file; the next start creates a new token.")
    return token
