"""Decide what is sent for a request: changed by the engine, or exactly as it came. It never fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

import msgspec

from laconic.conversation.engine import PreparedRequest
from laconic.errors import MalformedRequest
from laconic.gateway.compression import opened
from laconic.gateway.engine_adapter import Caller, GatewayEngine
from laconic.gateway.routes import Target
from laconic.gateway.session_identity import caller
from laconic.wire.formats import format_named
from laconic.wire.ours import Ours, ours
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.prompted.calls import Nonsense, PromptedTool
from laconic.wire.prompted.capability import CapabilityMemory, Protocols
from laconic.wire.prompted.protocol import add_correction, tools_of, upward

log = logging.getLogger("laconic.gateway")


class Policy(msgspec.Struct, frozen=True):
    """What the settings say about all requests."""

    enabled: bool = True
    off_models: tuple[str, ...] = ()  # patterns
    native_models: tuple[str, ...] = ()  # patterns: never asked for calls as text
    prompted_models: tuple[str, ...] = ()  # patterns: always
    probe: bool = True  # ask a model of which nothing is known whether it calls functions
    texts: tuple[bytes, ...] = ()  # our instructions in clients' prompts, as they stand in JSON
    max_body: int = 64 * 2**20


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
    ours: Ours = Ours()  # what of it would not be there without us
    tools: tuple[PromptedTool, ...] = ()  # calls are written as text, and read from it
    unsure: bool = False  # it has tools, and nobody knows whether the model can call them
    shortened: bool = False  # the provider said that an earlier form was too long
    kept: PreparedRequest | None = None  # what the engine did


def concerns_us(target: Target, headers: Mapping[str, str]) -> bool:
    """Whether this is a conversation that the client has not switched off."""
    return bool(target.format) and headers.get("x-laconic", "").lower() != "off"


def describe_request(prepared: PreparedRequest, *, changed: bool) -> dict[str, str]:
    """What is said about a request in `x-laconic-*` headers."""
    action = "reduced" if changed else "kept"
    notes = {"action": prepared.mode or action}
    if prepared.rung:
        notes["rung"] = prepared.rung
    if prepared.tokens:
        notes |= {"tokens": str(prepared.tokens), "saved": str(prepared.saved)}
    if prepared.thinking:
        notes["thinking"] = str(prepared.thinking)
    return notes


class Planner:
    """Holds the engine and the sessions that are switched off. Runs in one thread."""

    def __init__(
        self,
        engine: GatewayEngine,
        policy: Policy,
        clock: Callable[[], float],
        memory: CapabilityMemory | None = None,
    ) -> None:
        self.engine = engine
        self.policy = policy
        self.protocols = Protocols(policy.native_models, policy.prompted_models, clock, memory)
        self.off: dict[str, None] = {}  # sessions that are switched off, the oldest first

    def plan(self, target: Target, headers: Mapping[str, str], query: str, body: bytes) -> Plan:
        """Never raises: what fails passes unchanged."""
        if not concerns_us(target, headers):
            return Plan(body)
        try:
            return self._plan(target, headers, query, body)
        except MalformedRequest:
            return Plan(body)  # the provider will say what is wrong with it
        except Exception as error:
            log.exception("a request passes unchanged", extra={"format": target.format, "size": len(body)})
            return Plan(body, failed=type(error).__name__)

    def _plan(self, target: Target, headers: Mapping[str, str], query: str, body: bytes) -> Plan:
        encoding = headers.get("content-encoding", "")
        plain = opened(body, encoding, self.policy.max_body) if encoding else body
        if plain is None:
            return Plan(body)
        conversation = parse(format_named(target.format), plain)
        who = caller(target, headers, query, conversation)
        if self.switch(who.session, headers) or not self._wanted(who, conversation):
            notes = {"session": who.session, "action": "off"}
            added = Ours() if conversation.chained else ours(conversation, self.policy.texts)
            return Plan(body, who, notes, off=True, came=len(plain), went=len(plain), ours=added)
        prepared = self.engine.prepare(who, conversation)
        same = prepared.body == plain
        notes = {"session": who.session, **describe_request(prepared, changed=not same)}
        made = Plan(
            body if same else prepared.body,
            who,
            notes,
            opened=bool(encoding) and not same,
            came=len(plain),
            went=len(prepared.body),
            ours=ours(conversation, self.policy.texts),
            kept=prepared,
        )
        if format_named(target.format).written_calls is None or not conversation.field("tools"):
            return made
        known = self.protocols.known_mode(target.upstream, who.model, target.base)
        if known == "prompted":
            return self.prompted(target, prepared.body, made)
        unsure = not known and bool(who.model) and self.policy.probe and bool(tools_of(conversation))
        return msgspec.structs.replace(made, unsure=True) if unsure else made

    def again(self, target: Target, plan: Plan, nonsense: Nonsense) -> Plan:
        """The same request after an answer whose calls cannot be used."""
        conversation = parse(format_named(target.format), plan.body)
        return msgspec.structs.replace(plan, body=add_correction(conversation, nonsense, plan.tools))

    def prompted(self, target: Target, plain: bytes, plan: Plan) -> Plan:
        """The same request for a model without function calling; as it is when it has no tools."""
        if format_named(target.format).written_calls is None:
            return plan
        conversation = parse(format_named(target.format), plain)
        tools = tuple(tools_of(conversation))
        if not tools:
            return plan
        notes = {**plan.notes, "tools": "prompted"}
        return msgspec.structs.replace(plan, body=upward(conversation), notes=notes, opened=True, tools=tools)

    def downgrade(self, target: Target, plan: Plan) -> Plan | None:
        """After a refusal of tools: the request with calls as text; None when that is not allowed, or no help."""
        if (
            plan.caller is None
            or plan.off
            or plan.tools
            or not self.protocols.note_refusal(target.upstream, plan.caller.model, target.base)
        ):
            return None
        try:
            again = self.prompted(target, plan.body, plan)
        except MalformedRequest:  # a compressed body that nobody had to open
            return None
        return again if again.tools else None

    def _wanted(self, who: Caller, conversation: ParsedRequest) -> bool:
        """Off by setting, or because the provider keeps part of the history."""
        off = any(fnmatchcase(who.model, pattern) for pattern in self.policy.off_models)
        return self.policy.enabled and not off and not conversation.chained

    def switch(self, session: str, headers: Mapping[str, str]) -> bool:
        """A client switches its session off, and on again, with a header; whether it is off."""
        asked = headers.get("x-laconic", "").lower()
        if asked == "session-off":
            self.off[session] = None
            if len(self.off) > 10_000:
                del self.off[next(iter(self.off))]
        elif asked == "on":
            self.off.pop(session, None)
        return session in self.off
