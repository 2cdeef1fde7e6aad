"""Put together, from the settings, what all exchanges of a process share: files, engines, prices, what was learned."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from laconic.clients.registry import task_tools
from laconic.config import Settings
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions, options_from
from laconic.conversation.ledger import Branch, LedgerEntry, LedgerStore
from laconic.conversation.prefix_repair import FormStore
from laconic.conversation.quota import QuotaStore
from laconic.conversation.transaction import ArchiveStore
from laconic.exchange.engine_adapter import EngineAdapter
from laconic.exchange.recall import Recall
from laconic.exchange.turn_account import TurnAccount
from laconic.models.find_model import find_model
from laconic.models.model import Tokenizer
from laconic.models.price_lookup import Prices
from laconic.models.prices_and_windows import UNKNOWN_TOKENIZER
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.model_memory import Capabilities
from laconic.sessions.shared_memory import SharedMemory
from laconic.sessions.shared_quota import SharedQuotas
from laconic.sessions.store import SharedStore, find_place
from laconic.sessions.turns import Turns
from laconic.tokens.count import counter
from laconic.wire.prompted_tool_calls.capability import CapabilityMemory

_TEAM_SESSIONS: Final = 200  # that a replica keeps in memory, where nothing is said


class ModelEngines:
    """One conversation engine for each tokenizer, all on the same files: what one of them decided is in the ledger."""

    def __init__(
        self,
        ledger: LedgerStore,
        archive: ArchiveStore,
        options: EngineOptions,
        fallback: str,
        *,
        clock: Callable[[], float] = time.time,
        forms: FormStore | None = None,
        quotas: QuotaStore | None = None,
    ) -> None:
        self._ledger = ledger
        self._archive = archive
        self._options = options
        self._fallback = fallback  # the model whose tokenizer counts for models that nobody knows
        self._clock = clock
        self._forms = forms
        self._quotas = quotas
        self._engines: dict[Tokenizer, ConversationEngine] = {}

    def of(self, model: str) -> ConversationEngine:
        """The engine that counts as this model does."""
        name, tokenizer = model, find_model(model).tokenizer
        if tokenizer == UNKNOWN_TOKENIZER:
            name, tokenizer = self._fallback, find_model(self._fallback).tokenizer
        engine = self._engines.get(tokenizer)
        if engine is None:
            engine = ConversationEngine(
                self._ledger,
                self._archive,
                self._clock,
                counter(name),
                self._options,
                forms=self._forms,
                quotas=self._quotas,
            )
            self._engines[tokenizer] = engine
        return engine


@dataclass(frozen=True, slots=True)
class ExchangeParts:
    """The files of a process, and what works on them."""

    settings: Settings
    ledger: LedgerFile[LedgerEntry, Branch]
    archive: Archive
    turns: Turns
    memory: CapabilityMemory
    prices: Prices
    options: EngineOptions

    @classmethod
    def open(cls, settings: Settings) -> ExchangeParts:
        return cls(
            settings=settings,
            ledger=LedgerFile.of(settings, LedgerEntry, Branch),
            archive=Archive.of(settings),
            turns=Turns.of(settings),
            memory=_open_memory(settings),
            prices=Prices(settings.text("prices")),
            options=engine_options(settings),
        )

    def engine(self, window: int, *, reserve: float = 0.0, meta: bool | None = None) -> EngineAdapter:
        """The engines; `meta` overrules whether a request says how full it is."""
        options = self.options
        if meta is not None:
            options = msgspec.structs.replace(options, meta=meta)
        engines = ModelEngines(
            self.ledger,
            self.archive,
            options,
            self.settings.text("model"),
            forms=self.ledger,
            quotas=_open_quotas(self.settings),
        )
        return EngineAdapter(engines.of, window, reserve=reserve, memory=self.memory)

    def recall(self) -> Recall:
        """What brings back left out text in programs that cannot do it themselves."""
        return Recall(self.archive, enabled=self.settings.flag("gateway.recall"))

    def account(self) -> TurnAccount:
        """Who says what a turn cost."""
        return TurnAccount(self.turns, self.prices)


def _open_quotas(settings: Settings) -> SharedQuotas | None:
    """Only for a team: one process knows what it spends."""
    place = find_place(settings, "quota")
    if isinstance(place, SharedStore):
        return SharedQuotas(place)
    return None


def _open_memory(settings: Settings) -> CapabilityMemory:
    place = find_place(settings, "memory")
    if isinstance(place, SharedStore):
        return SharedMemory(place)
    return Capabilities(settings.state_dir() / "models.json")


def engine_options(settings: Settings) -> EngineOptions:
    """What the settings say, and the task tools of all clients."""
    options = msgspec.structs.replace(options_from(settings), task_tools=task_tools())
    if settings.text("store") and not settings.number("context.live_sessions"):
        return msgspec.structs.replace(options, live_sessions=_TEAM_SESSIONS)
    return options
