"""Tasks where agents keep them: todo lists, plans and task tools. Only what a tool accepted counts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

import msgspec

_DONE: Final = frozenset({"completed", "complete", "done", "finished"})
_STARTED: Final = frozenset({"in_progress", "in-progress", "inprogress", "active", "started", "doing"})
_LISTS: Final = ("todos", "plan", "tasks", "items")
_IDS: Final = ("id", "taskId", "task_id", "content", "step", "title", "subject", "name", "description")
_TITLES: Final = ("content", "step", "title", "subject", "name", "description")
_CREATED: Final = re.compile(r"#\s?(\w+)|\bid[:= ]+\"?([\w\-]+)")
_OURS: Final = "task"  # the tool of our own agent


class TrackedTask(msgspec.Struct, frozen=True):
    """One task as last seen."""

    id: str
    title: str
    status: str
    result: str = ""

    @property
    def done(self) -> bool:
        return self.status in _DONE

    @property
    def started(self) -> bool:
        return self.status in _STARTED


class TaskTracker:
    """The tasks of one conversation."""

    def __init__(self, tools: Collection[str] = ()) -> None:
        self._tools = {plain(tool) for tool in tools if tool}
        self._tasks: dict[str, TrackedTask] = {}
        self._started: list[str] = []  # in progress, the newest last

    def __iter__(self) -> Iterator[TrackedTask]:
        return iter(self._tasks.values())

    @property
    def current(self) -> str:
        """The task that outputs belong to now: the one started last. Empty: none."""
        if self._started:
            return self._started[-1]
        return ""

    def title(self, id: str) -> str:
        if id in self._tasks:
            return self._tasks[id].title
        return id

    def is_task_tool(self, name: str, arguments: Mapping[str, object]) -> bool:
        tool = plain(name)
        if tool == _OURS:  # Claude Code starts a helper with a tool of this name; that call has a prompt
            return "prompt" not in arguments
        return tool in self._tools

    def committed(
        self, arguments: Mapping[str, object], answer: str, *, error: bool, result: str = ""
    ) -> list[TrackedTask]:
        """Take in a call that was answered; returns the tasks that it completed. A refused call changes nothing.

        `result` is what a task came to that was completed without saying so.
        """
        if error:
            return []
        listed = next((value for field in _LISTS if isinstance(value := arguments.get(field), list)), None)
        rows = listed if listed is not None else [arguments]
        completed = []
        for row in rows:
            if isinstance(row, dict) and (task := self._task(row, answer, alone=listed is None)) is not None:
                before = self._tasks.get(task.id)
                if task.done and not (before and before.done):
                    task = msgspec.structs.replace(task, result=task.result or result)
                    completed.append(task)
                self._keep(task)
        return completed

    def _task(self, row: Mapping[str, object], answer: str, *, alone: bool) -> TrackedTask | None:
        title = next((str(row[field]) for field in _TITLES if row.get(field)), "")
        id = next((str(row[field]) for field in _IDS if row.get(field)), "").removeprefix("#")
        status = str(row.get("status") or row.get("state") or "").lower()
        if alone and not any(row.get(field) for field in ("id", "taskId", "task_id")):
            found = _CREATED.search(answer)  # a new task gets its id from the answer
            if found:
                id = next((group for group in found.groups() if group), id)
            status = status or "pending"
        if not id:
            return None
        before = self._tasks.get(id)
        if not status and before is None:
            return None
        return TrackedTask(
            id,
            title or (before.title if before else id),
            status or (before.status if before else "pending"),
            str(row.get("result") or row.get("summary") or (before.result if before else "")),
        )

    def _keep(self, task: TrackedTask) -> None:
        self._tasks[task.id] = task
        if task.started and task.id not in self._started:
            self._started.append(task.id)
        elif not task.started and task.id in self._started:
            self._started.remove(task.id)


def plain(name: str) -> str:
    """A tool's name without case, separators and an MCP prefix."""
    return re.sub(r"[^a-z]", "", name.rsplit("__", 1)[-1].lower())
