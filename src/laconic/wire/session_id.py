"""What a request says about the session it belongs to."""

from __future__ import annotations

from hashlib import sha256

from laconic.wire.json_values import as_object
from laconic.wire.parsed_request import ParsedRequest


def stated_id(conversation: ParsedRequest) -> str:
    """The id that the client gives the session in the body; empty when it gives none."""
    for first, *rest in conversation.format.session:
        found = conversation.decode_field(first)
        for name in rest:
            found = as_object(found).get(name)
        if found and isinstance(found, str | int):
            return str(found)
    return ""


def opening(conversation: ParsedRequest) -> str:
    """A hash of the first user message. What instructs the model may change while a session lasts."""
    digest = sha256(conversation.format.name.encode())
    for raw in conversation.first_message:
        digest.update(b"\0")
        digest.update(raw)
    return digest.hexdigest()
