"""Read an answer of any provider from its bytes, as they come."""

from __future__ import annotations

import msgspec

from laconic.errors import MalformedRequest, ModelError
from laconic.wire.json_spans import value
from laconic.wire.messages import Json, ModelAnswer, ProviderDialect
from laconic.wire.sse import ServerSentEvents, data_of


class AnswerReader:
    """Takes the bytes of one answer as they come, gives back the text in them, and at the end the whole."""

    def __init__(self, dialect: ProviderDialect, *, streamed: bool) -> None:
        self._dialect = dialect
        self._reader = dialect.reader()
        self._streamed = streamed
        self._events = ServerSentEvents()
        self._body = bytearray()
        self._heard = 0  # events that were one

    def feed(self, chunk: bytes) -> str:
        """The next bytes; returns the text that they add."""
        if not self._streamed:
            self._body += chunk
            return ""
        return "".join(self._event(data_of(event)) for event in self._events.feed(chunk))

    def close(self) -> ModelAnswer:
        """The answer has ended. One in which nothing could be read is a failure, not an empty answer."""
        if self._streamed:
            self._event(data_of(self._events.close()))
        else:
            for event in self._whole():
                self._heard += 1
                self._reader.event(event)
        if not self._heard:
            raise ModelError(
                "The answer is not in this provider's format.", "Check the address and the model's name."
            )
        return self._reader.close()

    def _event(self, data: bytes) -> str:
        event = _object(data)
        if event is None:
            return ""
        if isinstance(error := event.get("error"), dict) and not event.get("choices"):
            raise ModelError(f"The provider stopped with an error: {str(error.get('message'))[:300]}.", "Try again.")
        self._heard += 1
        return self._reader.event(event)

    def _whole(self) -> list[Json]:
        answer = _object(bytes(self._body))
        if answer is not None:
            found = [answer]
        else:
            found = _objects(bytes(self._body))
        result: list[Json] = []
        for one in found:
            result.extend(self._dialect.whole(one))
        return result


def _object(data: bytes) -> Json | None:
    if not data.strip().startswith(b"{"):
        return None
    try:
        decoded = value(data)
    except MalformedRequest:
        return None
    if isinstance(decoded, dict):
        return decoded
    return None


def _objects(data: bytes) -> list[Json]:
    """Gemini streams an array unless asked for events."""
    try:
        decoded = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []
    if isinstance(decoded, list):
        found = []
        for item in decoded:
            if isinstance(item, dict):
                found.append(item)
        return found
    return []
