"""What a request says about the session it belongs to."""

from __future__ import annotations

from hashlib import sha256

from laconic.wire.parsed_request import ParsedRequest

_METADATA = ("user_id", "session_id", "conversation_id", "thread_id")


def stated_id(conversation: ParsedRequest) -> str:
    """The id that the client gives the session in the body; empty when it gives none."""
    if key := conversation.text_field("prompt_cache_key"):
        return key
    metadata = conversation.decode_field("metadata")
    if isinstance(metadata, dict):
        return next((str(metadata[name]) for name in _METADATA if metadata.get(name)), "")
    return ""


def opening(conversation: ParsedRequest) -> str:
    """A hash of the first user message. What instructs the model may change while a session lasts."""
    digest = sha256(conversation.format.name.encode())
    for raw in conversation.first_message:
        digest.update(b"\0")
        digest.update(raw)
    return digest.hexdigest()
