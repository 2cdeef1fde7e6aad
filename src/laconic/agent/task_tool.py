"""`task`: what the agent is doing. The conversation engine reads the same calls and removes what is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from laconic.errors import UsageError
from laconic.tool_runtime.tool import Argument, Tool, ToolAnswer, ToolCall

_STATES = ("pending", "in_progress", "completed")


@dataclass(frozen=True, slots=True)
class AgentTask:
    """One task."""

    id: str
    title: str
    status: str
    result: str = ""


class TaskList:
    """The tasks of one session, in the order in which they were added."""

    def __init__(self) -> None:
        self._tasks: dict[str, AgentTask] = {}

    @property
    def current(self) -> str:
        """The title of the task that was started last."""
        started = []
        for task in self._tasks.values():
            if task.status == "in_progress":
                started.append(task)
        if started:
            return started[-1].title
        return ""

    def change(self, given: Mapping[str, object]) -> str:
        """Add or update a task; answers with it and with those that are open. What is refused changes nothing."""
        id, title = str(given.get("id") or "").strip().removeprefix("#"), str(given.get("title") or "").strip()
        status = str(given.get("status") or "")
        if id:
            if id not in self._tasks:
                known = ", ".join(f"#{known}" for known in self._tasks) or "none yet"
                raise UsageError(f"There is no task #{id} ({known}).", "Add one with a title.")
            before = self._tasks[id]
            task = replace(before, title=title or before.title, status=status or before.status)
        elif title:
            task = AgentTask(str(len(self._tasks) + 1), title, status or "pending")
        else:
            raise UsageError("A task needs a title, or the id of an existing task.", "task(title, status?)")
        task = replace(task, result=str(given.get("result") or task.result))
        self._tasks.pop(task.id, None)
        self._tasks[task.id] = task
        return self._describe(task)

    def _describe(self, task: AgentTask) -> str:
        others = []
        for t in self._tasks.values():
            if t.status != "completed":
                others.append(f"#{t.id} {t.status}: {t.title}")
        rest = []
        for line in others:
            if not line.startswith(f"#{task.id} "):
                rest.append(line)
        return "\n".join([f"#{task.id} {task.status}: {task.title}", *(["open:", *rest] if rest else [])])


def task_tool(tasks: TaskList) -> Tool:
    """The tool for one session."""

    def run(call: ToolCall) -> ToolAnswer:
        return ToolAnswer(kind="task", head=f"{tasks.change(call.values)}\n")

    return Tool(
        name="task",
        summary="Add, start or complete a task; outputs belong to the task in progress",
        help="A title adds a task, an id names one that is there. Completing one with its result lets what was shown for"
        " it be left out later.",
        arguments=(
            Argument("title", "text", "", aliases=("subject", "name", "content", "task")),
            Argument("id", "text", "", aliases=("task_id", "taskid")),
            Argument(name="status", kind="text", help="", choices=_STATES, aliases=("state", "action")),
            Argument(name="result", kind="text", help="", aliases=("summary",), listed=False),
        ),
        run=run,
        budget=400,
        examples=('task(title="Fix the parser", status="in_progress")', 'task(id="1", status="completed")'),
        aliases="todo task_create task_update update_task create_task",
        indexed=False,
        writes=True,
    )
