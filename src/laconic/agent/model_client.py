"""Ask one model in its provider's format, with a small conversation and native calls or calls as text.

Which of the two a model can do is declared, remembered, or found out with the first request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from laconic.agent.transport import StreamedResponse, Transport
from laconic.agent.usage_recorder import SentRequest
from laconic.errors import ContextOverflow, ModelError, UpstreamError
from laconic.exchange.caller import Caller, Target
from laconic.exchange.exchange import ModelExchange, write_calls_as_text
from laconic.exchange.plan import Plan
from laconic.render.context_status import write_context_status
from laconic.wire.answer_reader import AnswerReader
from laconic.wire.messages import Json, Message, ModelAnswer, ModelCall, ModelRequest, ProviderDialect, ToolDefinition
from laconic.wire.parsed_request import parse
from laconic.wire.prompted_tool_calls.calls import BrokenCall, PromptedTool
from laconic.wire.prompted_tool_calls.parser import CallParser
from laconic.wire.provider_format import ProviderFormat
from laconic.wire.rate_limits import limits_of
from laconic.wire.refusals import PromptTooLong, refuses_tools, too_long
from laconic.wire.turns_and_blocks import InsertMessage
from laconic.wire.usage import Usage

Show = Callable[[str], None]
_SAID: Final = 400  # characters of a provider's complaint
_TRIES: Final = 3  # of an answer that breaks off


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a model is asked, all through a session."""

    provider: str
    model: str
    format: ProviderFormat
    dialect: ProviderDialect
    system: str
    tools: tuple[ToolDefinition, ...]
    guessed: tuple[PromptedTool, ...] = ()  # further names under which calls as text are understood
    base: str = ""  # address of the server
    most: int = 8_000  # tokens of an answer
    temperature: float | None = None  # None: the model's own


class ModelOutput(msgspec.Struct, frozen=True):
    """What a model said, whichever way it makes its calls."""

    text: str
    uses: tuple[ModelCall, ...] = ()
    broken: tuple[BrokenCall, ...] = ()  # calls written as text that may not run
    truncated: bool = False
    native: Json | None = None


class _ToolsRefused(Exception):
    """The provider says that this model has no function calling."""


class _TooLong(Exception):
    """The provider says how many tokens the model takes, and that these were more."""

    def __init__(self, said: PromptTooLong) -> None:
        super().__init__(said)
        self.said = said


class ModelClient:
    """One model in one session."""

    def __init__(
        self,
        settings: ModelSettings,
        transport: Transport,
        exchange: ModelExchange,
        window: Callable[[Caller], int],
        session: str,
        *,
        count: Callable[[str], int],
        clock: Callable[[], float],
        sent: Callable[[SentRequest], None],
    ) -> None:
        self.settings = settings
        self._transport = transport
        self._exchange = exchange
        self._window_of = window
        self._target = Target(
            upstream=settings.provider, base=settings.base, path="", format=settings.format.name, model=settings.model
        )
        self._caller = Caller(session, settings.provider, settings.model)
        self._count = count
        self._clock = clock
        self._sent = sent
        self._plan = Plan(b"")
        self._place = 0  # of the next message: calls that were made as text need ids of ours

    @property
    def format(self) -> str:
        return self.settings.format.name

    @property
    def _window(self) -> int:
        """Tokens; 0: not known."""
        return self._window_of(self._caller)

    def ask(self, messages: tuple[Message, ...], task: str, show: Show) -> ModelOutput:
        """The next message of the model; `show` gets its text as it comes."""
        self._place = len(messages)
        try:
            return self._ask(messages, task, show)
        except _TooLong as error:  # now the window is known, and the history is made to fit
            self._exchange.overflowed(self._caller, error.said)
        try:
            return self._ask(messages, task, show)
        except _TooLong as error:
            raise ContextOverflow(
                f"{self.settings.model} takes {error.said.most} tokens, and nothing more can be left out.",
                "Use a model with a larger window, or start with a smaller task.",
            ) from None

    def _ask(self, messages: tuple[Message, ...], task: str, show: Show) -> ModelOutput:
        plan = self._plan = self._prepare(messages, task)
        if plan.tools:
            return self._ask_prompted(plan, show)
        held: list[str] = []
        try:
            said = self._ask_native(plan, held.append if plan.unsure else show)
        except _ToolsRefused:
            again = self._exchange.downgrade(self._target, plan, reads_text=True)
            if again is None:
                raise ModelError(
                    f"{self.settings.model} has no function calling.", "Use --protocol prompted, or another model."
                ) from None
            return self._ask_prompted(again, show)
        if plan.unsure:
            return self._learn_mode(plan, said, held, show)
        return said

    @property
    def _most(self) -> int:
        """In a small window an answer has a quarter."""
        window = self._window
        if window:
            return min(self.settings.most, window // 4)
        return self.settings.most

    def _prepare(self, messages: tuple[Message, ...], task: str) -> Plan:
        """The request as the engine wants it, and how full the context is at its very end."""
        settings = self.settings
        asking = ModelRequest(
            model=settings.model,
            system=settings.system,
            tools=settings.tools,
            messages=messages,
            most=self._most,
            temperature=settings.temperature,
        )
        conversation = parse(settings.format, settings.dialect.write(asking))
        plan = self._exchange.prepare(self._target, self._caller, conversation, reads_text=True)
        tokens = 0
        if plan.prepared is not None:
            tokens = plan.prepared.tokens
        status = write_context_status(tokens, self._window, task)
        return msgspec.structs.replace(plan, body=_with_status(settings.format, plan.body, status))

    # asking

    def _ask_native(self, plan: Plan, show: Show) -> ModelOutput:
        heard = self._send(plan, show)
        return ModelOutput(
            text=heard.text, uses=heard.uses, broken=(), truncated=heard.truncated, native=heard.native
        )

    def _ask_prompted(self, plan: Plan, show: Show) -> ModelOutput:
        """Tools described in words; calls read out of the text, which is shown without them."""
        parser = self._parser()
        passed: list[str] = []

        def read(text: str) -> None:
            if text := parser.feed(text):
                passed.append(text)
                show(text)

        heard = self._send(plan, read)
        outcome = parser.close(truncated=heard.truncated)
        if outcome.text.strip():
            show(outcome.text)
        uses = tuple(ModelCall(c.name, c.arguments, f"c{self._place}.{n}") for n, c in enumerate(outcome.calls, 1))
        return ModelOutput("".join(passed) + outcome.text, uses, outcome.broken, heard.truncated)

    def _learn_mode(self, plan: Plan, said: ModelOutput, held: list[str], show: Show) -> ModelOutput:
        """A model of which nothing is known has answered a request with tools."""
        model = self.settings.model
        if said.uses:
            self._exchange.learn(self._target, model, "native")
        elif (written := self._read_written_calls(said)) is not None:
            self._exchange.learn(self._target, model, "prompted")
            said = written
        else:
            shown: list[str] = []
            prompted = write_calls_as_text(parse(self.settings.format, plan.body), plan)
            other = self._ask_prompted(prompted, shown.append)
            if other.uses or other.broken:
                self._exchange.learn(self._target, model, "prompted")
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
        tools = []
        for offer in self.settings.tools:
            tools.append(PromptedTool(offer.name, frozenset(offer.schema.get("properties", ()))))
        return CallParser([*self.settings.guessed, *tools])

    # the wire

    def _send(self, plan: Plan, show: Show) -> ModelAnswer:
        """An answer that breaks off is asked for again: nothing was done with it yet."""
        began = self._clock()
        for left in range(_TRIES - 1, -1, -1):
            reply = self._transport.post(plan.body)
            if reply.status != 200:
                self._complain(reply, plan)
            try:
                heard = self._listen(reply, show)
                break
            except UpstreamError:
                if not left:
                    raise
        limits = limits_of(reply.headers, self._clock())
        usage, estimate = heard.usage, 0
        if usage is None:
            usage = Usage(output=self._count(heard.text), estimated=True)
            estimate = self._count(plan.body.decode("utf-8", "replace"))
        self._exchange.answered(self._caller, heard.usage or usage + Usage(input=estimate), limits)
        self._sent(
            SentRequest(plan=self._plan, usage=usage, estimate=estimate, limits=limits, seconds=self._clock() - began)
        )
        return heard

    def _listen(self, reply: StreamedResponse, show: Show) -> ModelAnswer:
        listener = AnswerReader(self.settings.dialect, streamed=reply.streamed)
        for chunk in reply.chunks:
            if text := listener.feed(chunk):
                show(text)
        heard = listener.close()
        if not reply.streamed and heard.text:
            show(heard.text)
        return heard

    def _complain(self, reply: StreamedResponse, plan: Plan) -> None:
        said = b"".join(reply.chunks)
        if refuses_tools(reply.status, said) and not plan.tools:
            raise _ToolsRefused
        length = too_long(reply.status, said)
        if length is not None:
            raise _TooLong(length)
        raise ModelError(
            f"{self.settings.provider} answered {reply.status}: {_message(said)}.",
            "Check the key, the model and the address.",
        )


def _message(said: bytes) -> str:
    try:
        found = msgspec.json.decode(said)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = None
    if isinstance(found, Mapping):
        error = found.get("error")
    else:
        error = None
    if isinstance(error, Mapping):
        text = error.get("message")
    else:
        text = error
    return " ".join(str(text or said.decode("utf-8", "replace")).split())[:_SAID].rstrip(".")


def _with_status(format: ProviderFormat, body: bytes, status: str) -> bytes:
    """The status behind everything else, in the newest message: roles go on alternating."""
    conversation = parse(format, body)
    last = conversation.turns[-1]
    if format.append_text is not None and last.role != "assistant":
        span = conversation.messages[-1]
        return body[: span.start] + format.append_text(span.of(body), status) + body[span.end :]
    return conversation.emit(inserts=[InsertMessage(len(conversation.turns), "user", status)])
