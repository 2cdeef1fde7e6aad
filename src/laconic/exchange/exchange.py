"""One exchange with a model, without the sending: prepare a request, and learn from what the provider says to it.

The gateway does this for other people's clients, the agent for itself. Called from one thread at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from laconic.errors import MalformedRequest
from laconic.exchange.caller import Caller, Target
from laconic.exchange.engine_adapter import RequestEngine
from laconic.exchange.plan import Plan, describe_request
from laconic.exchange.recall import OFFER, Recall, extend
from laconic.tokens.count import counter
from laconic.wire.fingerprint import FingerprintReader
from laconic.wire.formats import format_named
from laconic.wire.hidden_calls import HeldAnswer
from laconic.wire.laconic_overhead import ours
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.prompted_tool_calls.calls import UnusableCalls
from laconic.wire.prompted_tool_calls.capability import PromptedModels
from laconic.wire.prompted_tool_calls.protocol import add_correction, tools_of, upward
from laconic.wire.rate_limits import RateLimits
from laconic.wire.refusals import PromptTooLong
from laconic.wire.usage import Usage
from laconic.wire.usage_reader import asks_for_an_hour


class ModelExchange:
    """Holds the engine, and what is known about who calls functions. `texts` are our instructions, as JSON has them."""

    def __init__(
        self,
        engine: RequestEngine,
        protocols: PromptedModels,
        texts: Sequence[bytes] = (),
        recall: Recall | None = None,
    ) -> None:
        self.engine = engine
        self.protocols = protocols
        self._texts = texts
        self._fingerprints = FingerprintReader()
        self._recall = recall  # None: whoever asks brings back himself what was left out

    def prepare(
        self, target: Target, caller: Caller, conversation: ParsedRequest, *, reads_text: bool = False
    ) -> Plan:
        """What to send in the place of a request. `reads_text`: whoever asks finds calls in a text himself."""
        if self._recall is not None and self._recall.is_needed(conversation):
            recall = self._recall
        else:
            recall = None
        if recall is not None and not recall.enabled:
            return self._pass(caller, conversation)
        if recall is not None and self._writes_calls(target, caller, conversation, reads_text=reads_text):
            # A call of ours among calls as text could not be kept from the program: nothing is left out.
            return write_calls_as_text(conversation, self._pass(caller, conversation))
        prepared = self.engine.prepare(caller, conversation)
        is_same = prepared.body == conversation.body
        plan = Plan(
            body=conversation.body if is_same else prepared.body,
            caller=caller,
            notes={"session": caller.session, **describe_request(prepared, changed=not is_same)},
            came=len(conversation.body),
            went=len(prepared.body),
            ours=ours(conversation, counter(caller.model), self._texts),
            prepared=prepared,
            hour=asks_for_an_hour(conversation),
            fingerprint=self._fingerprints.read(conversation, caller.model),
        )
        can_write = reads_text or conversation.format.written_calls is not None
        if not can_write or not conversation.field("tools"):
            if recall is None:
                return plan
            return self._offer_recall(recall, conversation, plan)
        known = self.protocols.known_mode(target.upstream, caller.model, target.base)
        if known == "prompted":
            return write_calls_as_text(conversation if is_same else parse(conversation.format, plan.body), plan)
        is_unsure = not known and bool(caller.model) and bool(tools_of(conversation))
        plan = msgspec.structs.replace(plan, unsure=is_unsure)
        if recall is None:
            return plan
        return self._offer_recall(recall, conversation, plan)

    def _writes_calls(self, target: Target, caller: Caller, conversation: ParsedRequest, *, reads_text: bool) -> bool:
        """Whether the calls of this model travel as text."""
        can_write = reads_text or conversation.format.written_calls is not None
        return can_write and self.protocols.known_mode(target.upstream, caller.model, target.base) == "prompted"

    def _pass(self, caller: Caller, conversation: ParsedRequest) -> Plan:
        """A request as it came: nobody could bring back what was left out of it."""
        size = len(conversation.body)
        notes = {"session": caller.session, "action": "kept"}
        added = ours(conversation, counter(caller.model), self._texts)
        hour = asks_for_an_hour(conversation)
        return Plan(body=conversation.body, caller=caller, notes=notes, came=size, went=size, ours=added, hour=hour)

    def _offer_recall(self, recall: Recall, conversation: ParsedRequest, plan: Plan) -> Plan:
        body = recall.offer(conversation, plan.body)
        if body is None:
            return plan
        return msgspec.structs.replace(
            _grow(plan, body, conversation.format.declare(OFFER)), opened=True, recall=True
        )

    def answer_recall(self, target: Target, plan: Plan, held: HeldAnswer, *, is_last: bool = False) -> Plan:
        """The request that goes on after an answer which recalled something: with that answer, and what was recalled."""
        assert self._recall is not None
        assert plan.caller is not None
        format = format_named(target.format)
        assert format.hidden_calls is not None
        messages = format.hidden_calls.write(held, self._recall.answer(plan.caller, held, is_last=is_last))
        body = extend(parse(format, plan.body), messages)
        return _grow(plan, body, messages)

    def downgrade(
        self, target: Target, plan: Plan, *, reads_text: bool = False, is_proven: bool = True
    ) -> Plan | None:
        """After a refusal of tools: the request with calls as text; None when that is not allowed, or no help.

        Without proof nothing is learned: the words of the refusal may be the request's own.
        """
        if plan.caller is None or plan.off or plan.tools:
            return None
        if not self.protocols.note_refusal(target.upstream, plan.caller.model, target.base, learns=is_proven):
            return None
        format = format_named(target.format)
        if format.written_calls is None and not reads_text:
            return None
        try:
            again = write_calls_as_text(parse(format, plan.body), plan)
        except MalformedRequest:  # a compressed body that nobody had to open
            return None
        if again.tools:
            return msgspec.structs.replace(again, is_trial=not is_proven)
        return None

    def correct(self, target: Target, plan: Plan, nonsense: UnusableCalls) -> Plan:
        """The same request after an answer whose calls cannot be used."""
        conversation = parse(format_named(target.format), plan.body)
        return msgspec.structs.replace(plan, body=add_correction(conversation, nonsense, plan.tools))

    def answered(self, caller: Caller, usage: Usage | None, limits: RateLimits | None) -> None:
        """What the provider said about an answer."""
        self.engine.answered(caller, usage, limits)

    def overflowed(self, caller: Caller, said: PromptTooLong) -> None:
        """The provider said that the last request was too long."""
        self.engine.overflowed(caller, said)

    def learn(self, target: Target, model: str, protocol: str) -> None:
        """What a model showed that it can do."""
        self.protocols.learn(target.upstream, model, protocol, target.base)


def _grow(plan: Plan, body: bytes, added: object) -> Plan:
    """The plan with a body to which something was added, which would not have been sent without us."""
    assert plan.caller is not None
    size = counter(plan.caller.model)(msgspec.json.encode(added).decode())
    prepared = plan.prepared
    if prepared is not None and prepared.sent:
        prepared = msgspec.structs.replace(prepared, came=prepared.came + size, sent=prepared.sent + size)
    ours = msgspec.structs.replace(plan.ours, tokens=plan.ours.tokens + size)
    return msgspec.structs.replace(plan, body=body, went=len(body), prepared=prepared, ours=ours)


def write_calls_as_text(conversation: ParsedRequest, plan: Plan) -> Plan:
    """The plan for a model without function calling; as it is when the request has no tools."""
    tools = tuple(tools_of(conversation))
    if not tools:
        return plan
    notes = {**plan.notes, "tools": "prompted"}
    return msgspec.structs.replace(plan, body=upward(conversation), notes=notes, opened=True, tools=tools)
