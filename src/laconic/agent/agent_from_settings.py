"""Put a session together from settings and options: model, tools, memory, record."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from laconic import __version__
from laconic.agent.folder_summary import describe_workspace
from laconic.agent.loop import Agent, AgentObserver, SilentObserver
from laconic.agent.model_client import ModelClient, ModelSettings
from laconic.agent.model_endpoint import endpoint, transport
from laconic.agent.permission import Ask, Permission
from laconic.agent.run_limits import RunLimits, RunUsage
from laconic.agent.run_tool import CommandRunner
from laconic.agent.sandbox.choose import choose_sandbox
from laconic.agent.scripted_model import ScriptedModel, script
from laconic.agent.system_prompt import system_prompt
from laconic.agent.toolbox import Toolbox
from laconic.agent.transport import Transport
from laconic.agent.usage_recorder import UsageRecorder
from laconic.config import Settings, command_environment
from laconic.errors import BadSetting, UsageError, WorkspaceError
from laconic.exchange.caller import Caller
from laconic.exchange.exchange import ModelExchange
from laconic.exchange.exchange_parts import ExchangeParts
from laconic.reduce.text import reduce_text
from laconic.sessions.trajectories import Trajectory, begin, resume
from laconic.sessions.turn_record import TurnIdentity
from laconic.tokens.count import Counter, counter
from laconic.wire.formats import dialect_of, format_named
from laconic.wire.prompted_tool_calls.capability import PromptedModels
from laconic.wire.provider_format import ProviderFormat
from laconic.workspace.read_file import read_bytes

_SCRIPTED: Final = "scripted:"
_SCRIPTED_PROVIDER: Final = "scripted"
_RESERVE: Final = 0.05  # of a window, for what stands around messages
_HERE: Final = "http://localhost"  # where a script runs: it costs nothing
_NOTES: Final = ("AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md")
_NOTED: Final = 1_500  # tokens: every request carries them


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model, and the way to it."""

    provider: str
    model: str
    format: ProviderFormat
    base: str
    transport: Transport
    temperature: float | None = None  # None: its own


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What one run is told."""

    root: Path
    model: str
    base: str = ""  # address of a server of one's own
    format: str = ""  # and what it speaks
    protocol: str = "auto"
    window: int = 0  # tokens; 0: by the model's name
    limits: RunLimits = field(default_factory=RunLimits)
    ask: Ask | None = None  # None: nobody is there
    resume: str = ""


def folder_of(settings: Settings) -> Path:
    """Where sessions are kept."""
    return settings.state_dir() / "agent"


def assemble(options: AgentOptions, settings: Settings, task: str = "", watch: AgentObserver | None = None) -> Agent:
    """A session that is ready to work on a task: begun, or gone on with. Close it afterwards."""
    folder, root = folder_of(settings), options.root.resolve()
    if options.resume:
        record = resume(folder, options.resume, root)
    else:
        record = None
    try:
        parts = ExchangeParts.open(settings)
        chosen = _choose_model(options, parts)  # a model that is not there leaves no session behind
        runner = command_runner(Path(record.begun.root) if record else root, settings, options.ask)  # nor a sandbox
        record = record or begin(folder, root, options.model, task, __version__)
        return _assemble_agent(options, parts, record, chosen=chosen, runner=runner, watch=watch or SilentObserver())
    except BaseException:
        if record is not None:
            record.close()
        raise


def _check_price(options: AgentOptions, parts: ExchangeParts, model: str, base: str) -> None:
    """A limit in dollars needs a price."""
    if options.limits.dollars and not parts.prices.of(model, base).known:
        raise UsageError(f"The price of {model} is unknown.", "Name it in the setting `prices`, or drop --max-cost.")


def _assemble_agent(
    options: AgentOptions,
    parts: ExchangeParts,
    record: Trajectory,
    *,
    chosen: ChosenModel,
    runner: CommandRunner,
    watch: AgentObserver,
) -> Agent:
    settings = parts.settings
    is_scripted = chosen.provider == _SCRIPTED_PROVIDER
    count = counter(settings.text("model") if is_scripted else chosen.model)
    root = Path(record.begun.root)
    engine = parts.engine(options.window, reserve=_RESERVE, meta=False)  # the client says how full it is
    window = engine.window(Caller(record.id, chosen.provider, chosen.model))
    tools = Toolbox(root, settings, runner, record.id, window)
    who = TurnIdentity(
        session=record.id,
        upstream=chosen.provider,
        model=chosen.model,
        format=chosen.format.name,
        client="laconic agent",
    )
    recorder = UsageRecorder(who, chosen.base, RunUsage(options.limits), parts.account())
    model_settings = ModelSettings(
        provider=chosen.provider,
        model=chosen.model,
        format=chosen.format,
        dialect=dialect_of(chosen.format),
        system=system_prompt(str(root), _notes(root, count)),
        tools=tools.offers,
        guessed=tools.guessed,
        base=chosen.base,
        most=settings.number("agent.answer"),
        temperature=chosen.temperature,
    )
    client = ModelClient(
        model_settings,
        chosen.transport,
        ModelExchange(engine, _protocols(options, parts)),
        engine.window,
        record.id,
        count=count,
        clock=time.time,
        sent=recorder.add_request,
    )
    snapshot = ""
    if settings.flag("agent.snapshot") and not record.messages:
        snapshot = describe_workspace(root)
    return Agent(client=client, tools=tools, record=record, recorder=recorder, watch=watch, snapshot=snapshot)


def _temperature(settings: Settings) -> float | None:
    given = settings.text("agent.temperature").strip()
    if not given:
        return None
    try:
        return float(given)
    except ValueError:
        raise BadSetting(f"agent.temperature is {given!r}, not a number.", "Write a number such as 0.2.") from None


def _protocols(options: AgentOptions, parts: ExchangeParts) -> PromptedModels:
    """What is known about who calls functions; the user's word for this run comes first."""
    native = parts.settings.patterns("gateway.native_models")
    prompted = parts.settings.patterns("gateway.prompted_models")
    if options.protocol == "native":
        native, prompted = ("*",), ()
    elif options.protocol == "prompted":
        native, prompted = (), ("*",)
    return PromptedModels(native, prompted, time.time, parts.memory)


def command_runner(root: Path, settings: Settings, ask: Ask | None) -> CommandRunner:
    """How commands run in a folder: the sandbox is chosen here, once."""
    environment = command_environment(root, settings.patterns("agent.environment"))
    return CommandRunner(
        permission=Permission(root, settings.patterns("agent.allow"), settings.patterns("agent.deny"), ask),
        sandbox=choose_sandbox(root, settings, environment),
        environment=environment,
        network=settings.text("agent.network") == "on",
        seconds=settings.ratio("agent.seconds"),
    )


def _notes(root: Path, count: Counter) -> str:
    """What the project tells agents, the first of the usual files; a long one is reduced."""
    for name in _NOTES:
        try:
            text = read_bytes(root, name).decode("utf-8", "replace").strip()
        except WorkspaceError:
            continue
        if text:
            if count(text) > _NOTED:
                return reduce_text(text, cost=count, budget=_NOTED).text
            return text
    return ""


def _choose_model(options: AgentOptions, parts: ExchangeParts) -> ChosenModel:
    settings = parts.settings
    temperature = _temperature(settings)
    if options.model.startswith(_SCRIPTED):
        path = Path(options.model.removeprefix(_SCRIPTED))
        rules = script(path)
        format = options.format or rules.format
        model = ScriptedModel(rules, format, counter(settings.text("model")))
        return ChosenModel(
            provider=_SCRIPTED_PROVIDER,
            model=path.stem,
            format=format_named(format),
            base=_HERE,
            transport=model,
            temperature=temperature,
        )
    where = endpoint(options.model, settings, options.base, options.format)
    _check_price(options, parts, where.model, where.base)
    way = transport(where, settings.ratio("agent.patience"))
    return ChosenModel(
        provider=where.provider,
        model=where.model,
        format=format_named(where.format),
        base=where.base,
        transport=way,
        temperature=temperature,
    )
