"""Ask one model: the conversation kept small, in its provider's words, with native calls or calls as text.

Which of the two a model can do is declared, remembered, or found out with the first request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from laconic.agent.transport import StreamedResponse, Transport
from laconic.agent.usage_recorder import SentRequest
from laconic.conversation.engine import ConversationEngine, PreparedRequest
from laconic.conversation.engine_options import RequestLimits
from laconic.errors import ContextOverflow, ModelError, UpstreamError
from laconic.render.meta import meta
from laconic.wire.limits import limits_of
from laconic.wire.model import InsertMessage, SetText
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.prompted.calls import Broken, PromptedTool
from laconic.wire.prompted.capability import Protocols
from laconic.wire.prompted.parser import CallParser
from laconic.wire.prompted.protocol import upward
from laconic.wire.provider_format import ProviderFormat
from laconic.wire.refusals import refuses_tools, too_long
from laconic.wire.speaking.listener import Listener
from laconic.wire.speaking.talk import Asking, Json, Message, ModelAnswer, ModelCall, Offer, ProviderDialect
from laconic.wire.usage import Usage

Show = Callable[[str], None]
_SAID: Final = 400  # characters of a provider's complaint
_FRAME: Final = 20  # part of a window that is left for what stands around messages, and for tokens counted otherwise
_TRIES: Final = 3  # of an answer that breaks off


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a model is asked, all through a session."""

    provider: str
    model: str
    format: ProviderFormat
    dialect: ProviderDialect
    system: str
    tools: tuple[Offer, ...]
    guessed: tuple[PromptedTool, ...] = ()  # further names under which calls as text are understood
    window: int = 0  # tokens; 0: not known
    most: int = 8_000  # tokens of an answer
    protocol: str = "auto"  # native, prompted


class ModelOutput(msgspec.Struct, frozen=True):
    """What a model said, whichever way it makes its calls."""

    text: str
    uses: tuple[ModelCall, ...] = ()
    broken: tuple[Broken, ...] = ()  # calls written as text that may not run
    truncated: bool = False
    native: Json | None = None


class _ToolsRefused(Exception):
    """The provider says that this model has no function calling."""


class _TooLong(Exception):
    """The provider says how many tokens the model takes, and that these were more."""

    def __init__(self, window: int) -> None:
        super().__init__(window)
        self.window = window


class ModelClient:
    """One model in one session."""

    def __init__(
        self,
        settings: ModelSettings,
        transport: Transport,
        engine: ConversationEngine,
        protocols: Protocols,
        session: str,
        *,
        count: Callable[[str], int],
        clock: Callable[[], float],
        sent: Callable[[SentRequest], None],
    ) -> None:
        self.settings = settings
        self._transport = transport
        self._engine = engine
        self._protocols = protocols
        self._session = session
        self._count = count
        self._clock = clock
        self._sent = sent
        self._came = 0  # bytes of the history before it was made small
        self._prepared = PreparedRequest(b"")
        self._window = settings.window
        self._place = 0  # of the next message: calls that were made as text need ids of ours

    @property
    def format(self) -> str:
        return self.settings.format.name

    @property
    def protocol(self) -> str:
        """`native`, `prompted`, or nothing as long as it is not known."""
        if self.settings.protocol != "auto":
            return self.settings.protocol
        return self._protocols.known_mode(self.settings.provider, self.settings.model)

    def ask(self, messages: tuple[Message, ...], task: str, show: Show) -> ModelOutput:
        """The next message of the model; `show` gets its text as it comes."""
        self._place = len(messages)
        try:
            return self._ask(messages, task, show)
        except _TooLong as error:  # now the window is known, and the history is made to fit
            self._window = error.window
        try:
            return self._ask(messages, task, show)
        except _TooLong:
            raise ContextOverflow(
                f"{self.settings.model} takes {self._window} tokens, and no more may be left out.",
                "Use a model with a larger window, or start with a smaller task.",
            ) from None

    def _ask(self, messages: tuple[Message, ...], task: str, show: Show) -> ModelOutput:
        settings = self.settings
        asking = Asking(settings.model, settings.system, settings.tools, messages, self._most)
        body = self._shrink(asking, task)
        if self.protocol == "prompted":
            return self._ask_prompted(body, show)
        known = self.protocol == "native"
        held: list[str] = []
        try:
            said = self._ask_native(body, show if known else held.append)
        except _ToolsRefused:
            self._protocols.note_refusal(settings.provider, settings.model)
            return self._ask_prompted(body, show)
        return said if known else self._learn_mode(body, said, held, show)

    @property
    def _most(self) -> int:
        """In a small window an answer has a quarter."""
        return min(self.settings.most, self._window // 4) if self._window else self.settings.most

    def _shrink(self, asking: Asking, task: str) -> bytes:
        """The request as the engine wants it, and how full the context is at its very end."""
        settings = self.settings
        body = settings.dialect.write(asking)
        bounds = RequestLimits(max(0, self._window - self._window // _FRAME), self._account)
        prepared = self._engine.prepare(self._session, settings.format, body, bounds)
        self._came, self._prepared = len(body), prepared
        return _with_status(settings.format, prepared.body, meta(prepared.tokens, self._window, task))

    # asking

    def _ask_native(self, body: bytes, show: Show) -> ModelOutput:
        heard = self._send(body, show)
        return ModelOutput(heard.text, heard.uses, (), heard.truncated, heard.native)

    def _ask_prompted(self, body: bytes, show: Show) -> ModelOutput:
        """Tools described in words; calls read out of the text, which is shown without them."""
        conversation = parse(self.settings.format, body)
        parser = self._parser()
        passed: list[str] = []

        def read(text: str) -> None:
            if text := parser.feed(text):
                passed.append(text)
                show(text)

        heard = self._send(upward(conversation), read)
        outcome = parser.close(truncated=heard.truncated)
        if outcome.text.strip():
            show(outcome.text)
        uses = tuple(ModelCall(c.name, c.arguments, f"c{self._place}.{n}") for n, c in enumerate(outcome.calls, 1))
        return ModelOutput("".join(passed) + outcome.text, uses, outcome.broken, heard.truncated)

    def _learn_mode(self, body: bytes, said: ModelOutput, held: list[str], show: Show) -> ModelOutput:
        """A model of which nothing is known has answered a request with tools."""
        settings = self.settings
        if said.uses:
            self._protocols.learn(settings.provider, settings.model, "native")
        elif (written := self._read_written_calls(said)) is not None:
            self._protocols.learn(settings.provider, settings.model, "prompted")
            said = written
        else:
            shown: list[str] = []
            other = self._ask_prompted(body, shown.append)
            if other.uses or other.broken:
                self._protocols.learn(settings.provider, settings.model, "prompted")
                said, held = other, shown
        show("".join(held) if said.native is not None or not said.uses else said.text)
        return said

    def _read_written_calls(self, said: ModelOutput) -> ModelOutput | None:
        """Calls that a model wrote as text though it was offered real ones."""
        parser = self._parser()
        passed = parser.feed(said.text)
        outcome = parser.close(truncated=said.truncated)
        if not outcome.calls:
            return None
        uses = tuple(ModelCall(c.name, c.arguments, f"c{self._place}.{n}") for n, c in enumerate(outcome.calls, 1))
        return ModelOutput(passed + outcome.text, uses, outcome.broken, said.truncated)

    def _parser(self) -> CallParser:
        """Arguments are left to the tools, which understand guessed names and say what is missing."""
        tools = [
            PromptedTool(offer.name, frozenset(offer.schema.get("properties", ()))) for offer in self.settings.tools
        ]
        return CallParser([*self.settings.guessed, *tools])

    # the wire

    def _send(self, body: bytes, show: Show) -> ModelAnswer:
        """An answer that breaks off is asked for again: nothing was done with it yet."""
        began = self._clock()
        for left in range(_TRIES - 1, -1, -1):
            reply = self._transport.post(body)
            if reply.status != 200:
                self._complain(reply)
            try:
                heard = self._listen(reply, show)
                break
            except UpstreamError:
                if not left:
                    raise
        usage = heard.usage or self._estimate_usage(body, heard)
        limits = limits_of(reply.headers, self._clock())
        self._engine.observe(self._account, usage, limits)
        now = self._clock()
        self._sent(SentRequest(self._prepared, self._came, usage, limits, now - began, now))
        return heard

    def _estimate_usage(self, body: bytes, heard: ModelAnswer) -> Usage:
        prompt = self._count(body.decode("utf-8", "replace"))
        return Usage(prompt, output=self._count(heard.text), estimated=True)

    def _listen(self, reply: StreamedResponse, show: Show) -> ModelAnswer:
        listener = Listener(self.settings.dialect, streamed=reply.streamed)
        for chunk in reply.chunks:
            if text := listener.feed(chunk):
                show(text)
        heard = listener.close()
        if not reply.streamed and heard.text:
            show(heard.text)
        return heard

    @property
    def _account(self) -> str:
        return f"{self.settings.provider}/{self.settings.model}"

    def _complain(self, reply: StreamedResponse) -> None:
        said = b"".join(reply.chunks)
        if refuses_tools(reply.status, said) and self.protocol != "prompted":
            raise _ToolsRefused
        length = too_long(reply.status, said)
        if length is not None and length.most != self._window:
            raise _TooLong(length.most)
        raise ModelError(
            f"{self.settings.provider} answered {reply.status}: {_message(said)}.", "Check key, model and address."
        )


def _message(said: bytes) -> str:
    try:
        found = msgspec.json.decode(said)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = None
    error = found.get("error") if isinstance(found, Mapping) else None
    text = error.get("message") if isinstance(error, Mapping) else error
    return " ".join(str(text or said.decode("utf-8", "replace")).split())[:_SAID].rstrip(".")


def _with_status(format: ProviderFormat, body: bytes, status: str) -> bytes:
    """The status behind everything else: in the newest message, or after it where the cache goes by whole blocks."""
    conversation: ParsedRequest = parse(format, body)
    last = conversation.turns[-1]
    if format.merged or not last.blocks or not last.blocks[-1].editable or last.role == "assistant":
        return conversation.emit(inserts=[InsertMessage(len(conversation.turns), "user", status)])
    block = last.blocks[-1]
    return conversation.emit({block.at: SetText(f"{block.text}\n\n{status}", keep_images=True)})
