"""What is sent for a request, in one record."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from laconic.conversation.engine import PreparedRequest
from laconic.exchange.caller import Caller
from laconic.wire.fingerprint import RequestFingerprint
from laconic.wire.laconic_overhead import LaconicOverhead
from laconic.wire.prompted_tool_calls.calls import PromptedTool


class Plan(msgspec.Struct, frozen=True):
    """What is sent. Without a caller it is no conversation that we understand."""

    body: bytes
    caller: Caller | None = None
    notes: Mapping[str, str] = {}
    opened: bool = False  # the client compressed it, we do not
    failed: str = ""  # what of ours failed
    off: bool = False  # switched off: nothing is changed, whatever the provider says
    came: int = 0  # bytes of the conversation before
    went: int = 0  # and after
    ours: LaconicOverhead = LaconicOverhead()  # what of it would not be there without us
    tools: tuple[PromptedTool, ...] = ()  # calls are written as text, and read from it
    is_trial: bool = False  # whether that is needed shows when the provider accepts it
    unsure: bool = False  # it has tools, and nobody knows whether the model can call them
    shortened: bool = False  # the provider said that an earlier form was too long
    recall: bool = False  # the model may call `recall`, which the client does not see
    prepared: PreparedRequest | None = None  # what the engine did
    title: str = ""  # how the user began, where no engine looked for it
    project: str = ""  # and the folder that the client says it works in
    hour: bool = False  # what it writes to the cache is to be kept for an hour
    fingerprint: RequestFingerprint | None = None  # of the request as it came
    answer_limit: int = 0  # tokens that its answers may have in all; 0: nobody asks
    refused: str = ""  # why it must not go to an account that a team shares


def describe_request(prepared: PreparedRequest, *, changed: bool) -> dict[str, str]:
    """What is said about a request in `x-laconic-*` headers."""
    action = "kept"
    if changed:
        action = "reduced"
    notes = {"action": prepared.mode or action}
    if prepared.repaired:
        notes["repaired"] = ", ".join(prepared.repaired)
    if prepared.rung:
        notes["rung"] = prepared.rung
    if prepared.tokens:
        notes |= {"tokens": str(prepared.tokens), "saved": str(prepared.saved)}
    if prepared.thinking:
        notes["thinking"] = str(prepared.thinking)
    return notes
