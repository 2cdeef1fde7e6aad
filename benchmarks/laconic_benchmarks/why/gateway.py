"""Planted sessions through the gateway's own exchange and record, with an engine that rewrites when it is told to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from laconic.conversation.engine import PreparedRequest
from laconic.exchange.caller import Caller, Target
from laconic.exchange.engine_adapter import PassThroughEngine
from laconic.exchange.exchange import ModelExchange
from laconic.exchange.turn_account import AnsweredTurn, TurnAccount
from laconic.sessions.turn_record import TurnIdentity
from laconic.sessions.turns import Turns
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.prompted_tool_calls.capability import PromptedModels
from laconic.wire.usage import Usage
from laconic_benchmarks.why.planted import Json, SimulatedProvider

_TARGET = Target(upstream="anthropic", base="https://provider.test", path="/v1/messages", format="anthropic")


class RewritingEngine(PassThroughEngine):
    """Leaves out the oldest results, once told to, in every request from then on."""

    def __init__(self) -> None:
        self._left_out: set[str] = set()
        self.is_told = False

    def prepare(self, caller: Caller, conversation: ParsedRequest) -> PreparedRequest:
        body = msgspec.json.decode(conversation.body)
        results = []
        for message in body["messages"]:
            for block in message["content"]:
                if block["type"] == "tool_result":
                    results.append(block)
        mode = ""
        if self.is_told:
            self.is_told, mode = False, "economic"
            for block in results[: len(results) // 2]:
                self._left_out.add(block["tool_use_id"])
        for block in results:
            if block["tool_use_id"] in self._left_out:
                block["content"] = "[left out]"
        return PreparedRequest(msgspec.json.encode(body), tokens=1, mode=mode)


class RecordingGateway:
    """One session: what is sent, and what the record keeps of it."""

    def __init__(self, path: Path, session: str, provider: SimulatedProvider, output: Callable[[], int]) -> None:
        self._provider = provider
        self._output = output
        self._session = session
        self._engine = RewritingEngine()
        self._exchange = ModelExchange(self._engine, PromptedModels((), (), lambda: provider.now))
        self._account = TurnAccount(Turns(path), clock=lambda: provider.now)

    def send(self, body: Json, planted: str) -> Usage:
        """A request with its answer, as the gateway handles it."""
        self._engine.is_told = planted == "own_event"
        caller = Caller(session=self._session, account="a", model=body["model"])
        conversation = parse(format_named("anthropic"), msgspec.json.encode(body))
        plan = self._exchange.prepare(_TARGET, caller, conversation)
        usage = self._provider.send(msgspec.json.decode(plan.body), self._output())
        turn = AnsweredTurn(
            who=TurnIdentity(session=self._session, upstream="anthropic", model=body["model"], format="anthropic"),
            base=_TARGET.base,
            prepared=plan.prepared or PreparedRequest(b""),
            came=plan.came,
            went=plan.went,
            usage=usage,
            fingerprint=plan.fingerprint,
        )
        _, cost = self._account.account(turn)
        self._account.write(turn, cost)
        return usage

    def close(self) -> None:
        self._account.close()
