"""Decide what is sent for a request: changed by the engine, or exactly as it came. It never fails."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from fnmatch import fnmatchcase

import msgspec

from laconic.errors import ContextOverflow, MalformedRequest
from laconic.gateway.bodies import TooLarge, opened
from laconic.gateway.engine import Caller, Engine
from laconic.gateway.identity import caller
from laconic.gateway.routes import Target
from laconic.wire.conversation import Conversation, parse
from laconic.wire.formats import named

log = logging.getLogger("laconic.gateway")


class Policy(msgspec.Struct, frozen=True):
    """What the settings say about all requests."""

    enabled: bool = True
    off_models: tuple[str, ...] = ()  # patterns
    max_body: int = 64 * 2**20


class Plan(msgspec.Struct, frozen=True):
    """What is sent. Without a caller it is no conversation that we understand."""

    body: bytes
    caller: Caller | None = None
    notes: Mapping[str, str] = {}
    opened: bool = False  # the client compressed it, we do not
    refused: str = ""  # sent back to the client instead
    failed: str = ""  # what of ours failed
    came: int = 0  # bytes of the conversation before


class Planner:
    """Holds the engine and the sessions that are switched off. Runs in one thread."""

    def __init__(self, engine: Engine, policy: Policy) -> None:
        self.engine = engine
        self.policy = policy
        self._off: OrderedDict[str, None] = OrderedDict()

    def plan(self, target: Target, headers: Mapping[str, str], query: str, body: bytes) -> Plan:
        """Never raises but for a body that is too large: what fails passes unchanged."""
        if not target.format or headers.get("x-laconic", "").lower() == "off":
            return Plan(body)
        try:
            return self._plan(target, headers, query, body)
        except TooLarge:
            raise
        except MalformedRequest:
            return Plan(body)  # the provider will say what is wrong with it
        except ContextOverflow as error:
            return Plan(body, refused=str(error))
        except Exception as error:
            log.exception("a request passes unchanged", extra={"format": target.format, "size": len(body)})
            return Plan(body, failed=type(error).__name__)

    def _plan(self, target: Target, headers: Mapping[str, str], query: str, body: bytes) -> Plan:
        encoding = headers.get("content-encoding", "")
        plain = opened(body, encoding, self.policy.max_body) if encoding else body
        if plain is None:
            return Plan(body)
        conversation = parse(named(target.format), plain)
        who = caller(target, headers, query, conversation)
        if self._is_off(who, headers) or not self._wanted(who, conversation):
            return Plan(body, who, {"session": who.session, "action": "off"}, came=len(plain))
        prepared = self.engine.prepare(who, conversation)
        notes = {"session": who.session, **prepared.notes}
        if prepared.body == plain:
            return Plan(body, who, notes, came=len(plain))
        return Plan(prepared.body, who, notes, opened=bool(encoding), came=len(plain))

    def _wanted(self, who: Caller, conversation: Conversation) -> bool:
        """Off by setting, or because the provider keeps part of the history."""
        off = any(fnmatchcase(who.model, pattern) for pattern in self.policy.off_models)
        return self.policy.enabled and not off and not conversation.chained

    def _is_off(self, who: Caller, headers: Mapping[str, str]) -> bool:
        """A client switches its session off, and on again, with a header."""
        asked = headers.get("x-laconic", "").lower()
        if asked == "session-off":
            self._off[who.session] = None
            if len(self._off) > 10_000:
                self._off.popitem(last=False)
        elif asked == "on":
            self._off.pop(who.session, None)
        return who.session in self._off
