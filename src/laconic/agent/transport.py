"""How a request reaches a model: over HTTP, streamed. Keys go into headers and nowhere else."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from typing import Final, Protocol

from laconic.config import outbound_proxy
from laconic.errors import UpstreamError
from laconic.serving.no_redirects import build_opener
from laconic.wire.rate_limits import limits_of

_TRIES: Final = 4
_LONGEST: Final = 60.0  # seconds between two tries
_BUSY: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_CHUNK: Final = 65536
_ERROR: Final = 100_000  # bytes of an answer that is none


@dataclass(frozen=True, slots=True)
class StreamedResponse:
    """An answer as it begins; the rest comes in chunks."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    chunks: Iterator[bytes]

    @property
    def streamed(self) -> bool:
        return "event-stream" in self.headers.get("content-type", "")


class Transport(Protocol):
    """Takes one request at a time."""

    def post(self, body: bytes) -> StreamedResponse:
        """Send a body; an answer of any status comes back."""


@dataclass(frozen=True, slots=True)
class HttpTransport:
    """One address of a provider. Busy servers are asked again, as late as they say."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    patience: float = 300.0  # seconds without a byte
    sleep: Callable[[float], None] = time.sleep

    def post(self, body: bytes) -> StreamedResponse:
        delay = 1.0
        for left in range(_TRIES - 1, -1, -1):
            try:
                reply = self._once(body)
            except UpstreamError:
                if not left:
                    raise
            else:
                if reply.status not in _BUSY or not left:
                    return reply
                told = limits_of(reply.headers, time.time())
                delay = max(delay, (told.retry_after or 0.0) if told else 0.0)
                b"".join(reply.chunks)
            self.sleep(min(delay, _LONGEST))
            delay *= 2
        raise AssertionError

    def _once(self, body: bytes) -> StreamedResponse:
        opener = build_opener(outbound_proxy(self.url))
        request = urllib.request.Request(self.url, body, dict(self.headers), method="POST")
        try:
            answer = opener.open(request, timeout=self.patience)
        except urllib.error.HTTPError as error:
            with error, _name_address_in_errors(self.url):
                said = error.read(_ERROR)
            return StreamedResponse(error.code, {k.lower(): v for k, v in error.headers.items()}, iter([said]))
        except (OSError, HTTPException, ValueError) as error:
            raise _unreachable(self.url, error) from None
        headers = {}
        for name, value in answer.headers.items():
            headers[name.lower()] = value
        return StreamedResponse(answer.status, headers, self._chunks(answer))

    def _chunks(self, answer: HTTPResponse) -> Iterator[bytes]:
        with answer, _name_address_in_errors(self.url):
            while chunk := answer.read1(_CHUNK):
                yield chunk


@contextmanager
def _name_address_in_errors(url: str) -> Iterator[None]:
    try:
        yield
    except (OSError, HTTPException, ValueError) as error:
        raise _unreachable(url, error) from None


def _unreachable(url: str, error: Exception) -> UpstreamError:
    reason = getattr(error, "reason", error)
    address = url.split("?", 1)[0]
    return UpstreamError(
        f"{address} does not answer: {reason or type(error).__name__}.", "Check the address and the network."
    )
