"""Decide what is sent for a request: changed by the engine, or exactly as it came. It never fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from laconic.conversation.added_content import read_project, read_title
from laconic.errors import MalformedRequest
from laconic.exchange.caller import Caller, Target
from laconic.exchange.engine_adapter import RequestEngine
from laconic.exchange.exchange import ModelExchange
from laconic.exchange.plan import Plan
from laconic.exchange.recall import Recall
from laconic.gateway.compression import opened
from laconic.gateway.session_identity import caller
from laconic.gateway.shared_account import check_shared
from laconic.sessions.shared_memory import SharedMemory
from laconic.tokens.count import counter
from laconic.wire.formats import format_named
from laconic.wire.laconic_overhead import LaconicOverhead, ours
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.prompted_tool_calls.capability import CapabilityMemory, PromptedModels
from laconic.wire.usage_reader import asks_for_an_hour

_SWITCHED: Final = 30 * 86_400.0  # seconds that a switch is remembered
log = logging.getLogger("laconic.gateway")


class GatewayPolicy(msgspec.Struct, frozen=True):
    """What the settings say about all requests."""

    enabled: bool = True
    off_models: tuple[str, ...] = ()  # patterns
    native_models: tuple[str, ...] = ()  # patterns: never asked for calls as text
    prompted_models: tuple[str, ...] = ()  # patterns: always
    probe: bool = True  # ask a model of which nothing is known whether it calls functions
    texts: tuple[bytes, ...] = ()  # our instructions in clients' prompts, as they stand in JSON
    max_body: int = 64 * 2**20


def concerns_us(target: Target, headers: Mapping[str, str]) -> bool:
    """Whether this is a conversation that the client has not switched off."""
    is_off = headers.get("x-laconic", "").lower() == "off"
    return bool(target.format) and (not is_off or bool(target.person))  # whose key a team pays for is always counted


class Planner:
    """Holds the engine and the sessions that are switched off. Runs in one thread."""

    def __init__(
        self,
        engine: RequestEngine,
        policy: GatewayPolicy,
        clock: Callable[[], float],
        memory: CapabilityMemory | None = None,
        recall: Recall | None = None,
    ) -> None:
        self.policy = policy
        protocols = PromptedModels(policy.native_models, policy.prompted_models, clock, memory)
        self.exchange = ModelExchange(engine, protocols, policy.texts, recall)
        self.off: dict[str, None] = {}  # sessions that are switched off, the oldest first
        self._clock = clock
        self._switches = memory if isinstance(memory, SharedMemory) else None  # where other replicas see them

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
            return self._without_engine(target, headers, query, body, type(error).__name__)

    def _without_engine(
        self, target: Target, headers: Mapping[str, str], query: str, body: bytes, fault: str
    ) -> Plan:
        """Unchanged. Where a team pays, somebody still has to know for what."""
        if not target.person:
            return Plan(body, failed=fault)
        try:
            plain = self._open(headers, body)
            conversation = parse(format_named(target.format), plain or b"")
            who = caller(target, headers, query, conversation)
            plan = self._pass(who, conversation, body, len(plain or b""))
        except Exception:
            log.exception("a request cannot be read")
            return Plan(body, failed=fault)
        return msgspec.structs.replace(check_shared(plan, conversation), failed=fault)

    def _open(self, headers: Mapping[str, str], body: bytes) -> bytes | None:
        encoding = headers.get("content-encoding", "")
        if encoding:
            return opened(body, encoding, self.policy.max_body)
        return body

    def _plan(self, target: Target, headers: Mapping[str, str], query: str, body: bytes) -> Plan:
        plain = self._open(headers, body)
        if plain is None:
            return Plan(body)
        conversation = parse(format_named(target.format), plain)
        who = caller(target, headers, query, conversation)
        if self.switch(who.session, headers) or not self._wanted(who, conversation):
            plan = self._pass(who, conversation, body, len(plain))
        else:
            plan = self.exchange.prepare(target, who, conversation)
            encoded = "content-encoding" in headers
            if encoded and plan.body is plain:
                plan = msgspec.structs.replace(plan, body=body)  # as the client compressed it
            else:
                unsure = plan.unsure and self.policy.probe
                plan = msgspec.structs.replace(plan, opened=encoded or plan.opened, unsure=unsure)
        if target.person:
            return check_shared(plan, conversation)
        return plan

    def _pass(self, who: Caller, conversation: ParsedRequest, body: bytes, size: int) -> Plan:
        """A request that goes as it came, and is counted."""
        added = LaconicOverhead()
        if not conversation.chained:
            added = ours(conversation, counter(who.model), self.policy.texts)
        return Plan(
            body=body,
            caller=who,
            notes={"session": who.session, "action": "off"},
            off=True,
            came=size,
            went=size,
            ours=added,
            hour=asks_for_an_hour(conversation),
            title=read_title(conversation),
            project=read_project(conversation),
        )

    def _wanted(self, who: Caller, conversation: ParsedRequest) -> bool:
        """Off by setting, or because the provider keeps part of the history."""
        off = any(fnmatchcase(who.model, pattern) for pattern in self.policy.off_models)
        return self.policy.enabled and not off and not conversation.chained

    def switch(self, session: str, headers: Mapping[str, str]) -> bool:
        """A client switches its session off, and on again, with a header; whether it is off."""
        asked = headers.get("x-laconic", "").lower()
        if asked == "off":  # for this request only
            return True
        if self._switches is not None:
            return self._switch_for_all(self._switches, session, asked)
        if asked == "session-off":
            self.off[session] = None
            if len(self.off) > 10_000:
                del self.off[next(iter(self.off))]
        elif asked == "on":
            self.off.pop(session, None)
        return session in self.off

    def _switch_for_all(self, switches: SharedMemory, session: str, asked: str) -> bool:
        name = f"switch {session}"
        if asked in {"session-off", "on"}:
            switches.keep(name, asked, self._clock() + _SWITCHED)
            return asked == "session-off"
        said = switches.recall(name)
        return said is not None and said[0] == "session-off"
