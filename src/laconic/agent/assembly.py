"""Put a session together from settings and options: model, tools, memory, record."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from laconic import __version__
from laconic.agent.limits import RunLimits, Spent
from laconic.agent.loop import Agent, AgentObserver, SilentObserver
from laconic.agent.model_client import ModelClient, ModelSettings
from laconic.agent.permission import Ask, Permission
from laconic.agent.providers import endpoint, transport
from laconic.agent.run_tool import CommandRunner
from laconic.agent.sandbox.choosing import choose_sandbox
from laconic.agent.scripted_model import ScriptedModel, script
from laconic.agent.toolbox import Toolbox
from laconic.agent.transport import Transport
from laconic.agent.usage_recorder import UsageRecorder
from laconic.config import Settings, command_environment
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import options_from
from laconic.conversation.ledger import Branch, LedgerEntry
from laconic.errors import UsageError, WorkspaceError
from laconic.models.find import window_of
from laconic.models.model import Price
from laconic.models.prices import Prices
from laconic.reduce.text import reduce_text
from laconic.render.briefing import system_prompt
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_file import LedgerFile
from laconic.sessions.model_memory import Capabilities
from laconic.sessions.trajectories import Trajectory, begin, resume
from laconic.sessions.turns import Turns, Who
from laconic.tokens.count import Counter, counter
from laconic.wire.prompted.capability import Protocols
from laconic.wire.speaking.dialects import dialect_named
from laconic.workspace.reading import read_bytes

_SCRIPTED: Final = "scripted:"
_HERE: Final = "http://localhost"  # where a script runs: it costs nothing
_NOTES: Final = ("AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md")
_NOTED: Final = 1_500  # tokens: every request carries them


Chosen = tuple[str, str, str, str, Transport]  # provider, model, format, address, and the way there


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
    chosen = _model(options, settings)  # first: a model that is not there leaves no session behind
    price = _price(options, settings, chosen)
    folder, root = folder_of(settings), options.root.resolve()
    if options.resume:
        record = resume(folder, options.resume, root)
        runner = command_runner(Path(record.begun.root), settings, options.ask)
    else:
        runner = command_runner(root, settings, options.ask)  # neither does a sandbox that is not there
        record = begin(folder, root, options.model, task, __version__)
    return _assemble_agent(
        options, settings, record, chosen=chosen, price=price, runner=runner, watch=watch or SilentObserver()
    )


def _price(options: AgentOptions, settings: Settings, chosen: Chosen) -> Price:
    """A limit in dollars needs a price."""
    _, model, _, base, _ = chosen
    price = Prices(settings.text("prices")).of(model, base)
    if options.limits.dollars and not price.known:
        raise UsageError(
            f"The price of {model} is not known.", "Name it in the setting `prices`, or drop --max-cost."
        )
    return price


def _assemble_agent(
    options: AgentOptions,
    settings: Settings,
    record: Trajectory,
    *,
    chosen: Chosen,
    price: Price,
    runner: CommandRunner,
    watch: AgentObserver,
) -> Agent:
    provider, model, format, _, way = chosen
    count = counter(settings.text("model") if provider == "scripted" else model)
    root = Path(record.begun.root)
    window = options.window or (0 if provider == "scripted" else window_of(model))
    tools = Toolbox(root, settings, runner, record.id, window)
    ledger = LedgerFile.of(settings, LedgerEntry, Branch)
    kept = msgspec.structs.replace(options_from(settings), meta=False)  # the client says how full it is
    engine = ConversationEngine(ledger, Archive.of(settings), time.time, count, kept)
    who = Who(record.id, "", provider, model, format, "laconic agent")
    recorder = UsageRecorder(who, Spent(options.limits), price, Turns.of(settings))
    model_settings = ModelSettings(
        provider,
        model,
        dialect_named(format),
        system_prompt(str(root), _notes(root, count)),
        tools.offers,
        tools.guessed,
        window,
        settings.number("agent.answer"),
        options.protocol,
    )
    protocols = Protocols(
        settings.patterns("gateway.native_models"),
        settings.patterns("gateway.prompted_models"),
        time.time,
        Capabilities(settings.state_dir() / "models.json"),
    )
    client = ModelClient(
        model_settings, way, engine, protocols, record.id, count=count, clock=time.time, sent=recorder.add_request
    )
    return Agent(client, tools, record, recorder, watch)


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
            return reduce_text(text, cost=count, budget=_NOTED).text if count(text) > _NOTED else text
    return ""


def _model(options: AgentOptions, settings: Settings) -> Chosen:
    if options.model.startswith(_SCRIPTED):
        path = Path(options.model.removeprefix(_SCRIPTED))
        rules = script(path)
        format = options.format or rules.format
        return "scripted", path.stem, format, _HERE, ScriptedModel(rules, format, counter(settings.text("model")))
    where = endpoint(options.model, settings, options.base, options.format)
    return where.provider, where.model, where.format, where.base, transport(where, settings.ratio("agent.patience"))
