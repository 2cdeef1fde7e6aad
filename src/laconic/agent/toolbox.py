"""All tools of the agent: the code plane, `edit`, `run` and `task`, behind one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from laconic.agent.run_tool import CommandRunner, run_tool
from laconic.agent.task_tool import TaskList, task_tool
from laconic.config import Settings
from laconic.errors import LaconicError, UnknownName
from laconic.tool_runtime.runtime import ToolReply, ToolRuntime, find
from laconic.tool_runtime.session import Session
from laconic.tool_runtime.tool import Tool
from laconic.tools import tools
from laconic.wire.messages import AssistantMessage, Message, ToolDefinition, ToolResults
from laconic.wire.prompted_tool_calls.calls import PromptedTool as Called

_OFFERED: Final = (
    "search", "inspect", "read", "map", "context", "trace", "diff", "edit", "report", "recall", "run", "task",
)  # fmt: skip
_SHARE: Final = 6  # an answer has at most this part of the window
_LEAST: Final = 300  # tokens


class Toolbox:
    """The tools of one session over one folder."""

    def __init__(self, root: Path, settings: Settings, runner: CommandRunner, session: str, window: int = 0) -> None:
        self.runner = runner
        self.tasks = TaskList()
        own = {}
        for tool in (run_tool(runner, session), task_tool(self.tasks)):
            own[tool.name] = tool
        self._plane = ToolRuntime(root, settings, {**own, **tools()})
        self._session = Session(remembers=False)  # the engine points to what the conversation has
        self._most: int | None = None
        if window:
            self._most = max(_LEAST, window // _SHARE)

    def close(self) -> None:
        self._plane.close()

    @property
    def offers(self) -> tuple[ToolDefinition, ...]:
        """What the model is told."""
        tools = (self._plane.tools[name] for name in _OFFERED)
        found = []
        for tool in tools:
            found.append(ToolDefinition(tool.name, tool.summary, tool.schema()))
        return tuple(found)

    @property
    def guessed(self) -> tuple[Called, ...]:
        """Further names that models use for them."""
        tools = []
        for name in _OFFERED:
            tools.append(self._plane.tools[name])
        return tuple(Called(alias, frozenset(tool.fields)) for tool in tools for alias in tool.aliases.split())

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolReply:
        """Answer a call; every failure is an answer."""
        return self._plane.call(name, arguments, self._session, self._most)

    def knows(self, name: str) -> bool:
        return self._tool(name) is not None

    def writes(self, name: str) -> bool:
        """Whether a call could change anything; what is not known could."""
        tool = self._tool(name)
        return tool is None or tool.writes

    def remember(self, messages: Iterable[Message]) -> None:
        """Bring back the tasks of a session that is gone on with."""
        uses: dict[int, Mapping[str, Any]] = {}
        for message in messages:
            if isinstance(message, AssistantMessage):
                uses = {}
                for n, use in enumerate(message.uses):
                    if use.name == "task":
                        uses[n] = use.arguments
            elif isinstance(message, ToolResults):
                for number, one in enumerate(message.outcomes):
                    if number in uses and not one.failed:
                        self.call("task", uses[number])

    def _tool(self, name: str) -> Tool | None:
        try:
            return find(name, self._plane.tools)
        except (UnknownName, LaconicError):
            return None
