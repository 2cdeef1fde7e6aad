"""What our own agent tells its model: who it is, and what became of calls that could not run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_SYSTEM: Final = """\
You are a careful software engineer who works in the folder {root} through tools.

- Look before you change: search, inspect and context find code and show it with line numbers and a tag in one call.
- Change files with edit: name the tag and the lines as they were shown, or an exact text. If it is refused, nothing \
was written: use the fresh lines in the answer.
- Run tests and programs with run. It starts in the folder above, takes no input, and ends after a time limit.
- For work of several parts keep tasks with task: start one, complete it with its result; then start the next. What \
was shown for a completed task may be left out later; recall brings back what a note in brackets names.
- Ask for several things at once where you can. Check your work before you say that it is done.

When the work is done, answer in a few plain sentences without any call. A line in brackets at the end of a message, \
such as [context 12k of 200k tokens], tells how full your context is; never answer it."""

_WHY: Final = {
    "truncated": "your message was cut off",
    "not-json": "its arguments are not valid JSON",
    "arguments": "its arguments are not those of the tool",
    "unknown-tool": "there is no such tool",
    "batch": "another call beside it was broken",
}


def system_prompt(root: str, notes: str = "") -> str:
    """The same for a whole session: nothing in it changes from turn to turn. `notes`: what the project says itself."""
    said = _SYSTEM.format(root=root)
    if notes:
        return f"{said}\n\nThe project's own notes for agents:\n\n{notes}"
    return said


def not_run(reason: str, name: str = "") -> str:
    """Why a call did not run, and what to do."""
    said = _WHY.get(reason, reason)
    fix = "Write it again."
    if reason == "truncated":
        fix = "Write it again in smaller parts."
    return f"error: this call of {name or 'a tool'} was not run: {said}. {fix}"


def not_run_all(broken: Sequence[tuple[str, str]]) -> str:
    """The same for calls that were written as text."""
    return "\n".join(f"[{not_run(reason, name)}]" for reason, name in broken)


INTERRUPTED: Final = (
    "error: the session was interrupted before this result was kept. The call may have been run: check before you"
    " repeat it."
)
NOTHING_SAID: Final = "[Your message was empty. Call a tool, or say in plain words what you found.]"
CUT_OFF: Final = "[Your message was cut off before it ended. Go on, and be brief.]"
