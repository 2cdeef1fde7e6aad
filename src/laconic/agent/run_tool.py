"""`run`: a command in the working folder, allowed first, ended in time, its output reduced and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from laconic.agent.permission import Permission
from laconic.agent.sandbox.choose import Sandbox
from laconic.errors import ArchiveUnavailable
from laconic.reduce.text import reduce_text
from laconic.tool_runtime.tool import Argument, Piece, Tool, ToolAnswer, ToolCall
from laconic.workspace.read_file import inside
from laconic.workspace.shell import CommandResult

_FRAME = 60  # tokens for what stands around the output


@dataclass(frozen=True, slots=True)
class CommandRunner:
    """How commands of one session run: who allows them, what confines them, what they see of the environment."""

    permission: Permission
    sandbox: Sandbox
    environment: Mapping[str, str]
    network: bool
    seconds: float

    def run(self, command: str, folder: Path, seconds: float) -> CommandResult:
        self.permission.check(command)
        return self.sandbox.run(command, folder, seconds=seconds, environment=self.environment)

    def describe(self) -> str:
        """What a person reads at the start of a session."""
        box = self.sandbox
        if not box.name:
            return f"No sandbox ({box.gaps}): a command that you allow can do whatever you can do."
        reach = "do not reach the network"
        if self.network:
            reach = "reach the network"
        said = f"Commands run in a sandbox ({box.name}): they change files in this folder only, and {reach}."
        if box.gaps:
            return f"{said} {box.gaps}"
        return said

    @property
    def confinement(self) -> str:
        """What a model is told of it."""
        if not self.sandbox.name:
            return ""
        reach = ", no network"
        if self.network:
            reach = ""
        return f", in a sandbox (only this folder can be changed, .git only read{reach})"


def run_tool(runner: CommandRunner, session: str) -> Tool:
    """The tool for one session."""

    def run(call: ToolCall) -> ToolAnswer:
        command = call.text("command")
        folder = inside(call.runtime.root, call.text("folder") or ".")
        limit = min(call.number("seconds") or runner.seconds, max(runner.seconds, 3600.0))
        ended = runner.run(command, folder, limit)
        return ToolAnswer([Piece((_show_output(call, session, command, ended, limit),))], "run", unit="outputs")

    return Tool(
        name="run",
        summary=f"Run a shell command in the working folder{runner.confinement};"
        " output reduced, the whole kept for recall",
        help="The command starts in the working folder or in `folder` below it, has no input, and is ended after a"
        " time limit, together with everything that it started, in the background too.",
        arguments=(
            Argument(
                name="command",
                kind="text",
                help="",
                required=True,
                aliases=("cmd", "script", "code", "bash", "input"),
            ),
            Argument(name="seconds", kind="number", help="", aliases=("timeout", "time_limit"), listed=False),
            Argument(name="folder", kind="text", help="", aliases=("cwd", "workdir", "directory"), listed=False),
        ),
        run=run,
        budget=3_000,
        examples=('run(command="pytest -q tests/test_parser.py")',),
        aliases="bash shell exec execute run_command run_shell_command terminal sh cmd run_tests test",
        indexed=False,
        writes=True,
    )


def _show_output(call: ToolCall, session: str, command: str, ended: CommandResult, limit: float) -> str:
    more = ""
    if ended.output:
        try:
            ref = call.runtime.archive.put(session, "run", ended.output, command[:200])
            more = f"whole: recall {ref}"
        except ArchiveUnavailable:
            more = "the whole was not kept"
    text = ended.output.decode("utf-8", "replace")
    view = reduce_text(text, cost=call.runtime.count, budget=max(50, call.limit - _FRAME), more=more)
    notes = []
    if ended.late:
        notes.append(f"ended after {limit:g} s with all that it had started")
    elif ended.orphans:
        notes.append("processes that it left running were ended")
    if ended.dropped:
        notes.append(f"{ended.dropped} bytes in the middle were not kept")
    if ended.code or notes:
        notes.insert(0, f"exit code {ended.code}")
    if view.text.endswith("\n") or not view.text:
        said = view.text
    else:
        said = f"{view.text}\n"
    if notes:
        return f"{said}[{'; '.join(notes)}]\n"
    return said or "(no output, exit code 0)\n"
