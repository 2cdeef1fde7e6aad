"""Ask a team's index server for parsed contents by their keys. One that is away or slow is left alone for a while."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from laconic.config import Settings, first_variable
from laconic.errors import BadSetting
from laconic.local_addresses import is_loopback

PATH: Final = "/laconic/contents"
KEY_BYTES: Final = 16
MOST_KEYS: Final = 2_000  # in one request
_SECONDS: Final = 5.0  # for an answer
_PAUSE: Final = 60.0  # seconds without asking, after a failure
_LARGEST: Final = 128_000_000  # bytes of an answer
_DECODER: Final = msgspec.msgpack.Decoder(list[tuple[bytes, bytes]])


class RemoteContents:
    """One server. It never gets a file, only keys."""

    def __init__(self, url: str, key: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._parts = urlsplit(url)
        self._key = key
        self._clock = clock
        self._silent_until = 0.0

    def find(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """The packed records that the server has; none while it does not answer."""
        if self._clock() < self._silent_until:
            return {}
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, bytes] = {}
        try:
            for start in range(0, len(wanted), MOST_KEYS):
                some = wanted[start : start + MOST_KEYS]
                answered = dict(_DECODER.decode(self._ask(b"".join(some))))
                for key in some:
                    if key in answered:
                        found[key] = answered[key]
        except (OSError, HTTPException, msgspec.MsgspecError, ValueError):
            self._silent_until = self._clock() + _PAUSE
        return found

    def claim(self, keys: Iterable[bytes]) -> set[bytes]:
        """All: nobody else parses the files of this user."""
        return set(keys)

    def save(self, records: Mapping[bytes, bytes]) -> None:
        """Nothing: the server parses what is pushed, and believes nobody else."""

    def _ask(self, body: bytes) -> bytes:
        connection = self._connect()
        headers = {"authorization": f"Bearer {self._key}", "content-type": "application/octet-stream"}
        try:
            connection.request("POST", self._parts.path.rstrip("/") + PATH, body, headers)
            answer = connection.getresponse()
            data = answer.read(_LARGEST + 1)
            if answer.status != 200 or len(data) > _LARGEST:
                raise HTTPException(f"status {answer.status}")
            return data
        finally:
            connection.close()

    def _connect(self) -> HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            return HTTPSConnection(host, port, timeout=_SECONDS, context=ssl.create_default_context())
        return HTTPConnection(host, port, timeout=_SECONDS)


def remote_contents(settings: Settings) -> RemoteContents:
    """The server that the settings name."""
    url = settings.text("index.server").rstrip("/")
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise BadSetting(
            f"index.server is {url!r}, not an https:// address.", "Plain http:// is for this machine only."
        )
    return RemoteContents(url, _read_key(settings, url))


def login_file(settings: Settings, url: str) -> Path:
    """Where the key of a login to an address is kept."""
    return settings.state_dir() / "team-keys" / sha256(url.rstrip("/").encode()).hexdigest()[:16]


def _read_key(settings: Settings, url: str) -> str:
    place = settings.text("index.server_key")
    how, _, where = place.partition(":")
    fix = f"Log in with `laconic login {url}`, or name a file with the key: index.server_key = file:PATH."
    if how == "env" and where:
        key = first_variable((where,))
    else:
        file = Path(where).expanduser() if how == "file" and where else login_file(settings, url)
        try:
            key = file.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            key = ""
    if not key:
        raise BadSetting(f"There is no key for the index server {url}.", fix)
    return key
