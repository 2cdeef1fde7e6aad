"""The agent loop: ask the model, run its calls, return their results, until it makes no more calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from laconic.agent.model_client import ModelClient, ModelOutput
from laconic.agent.system_prompt import CUT_OFF, INTERRUPTED, NOTHING_SAID, not_run, not_run_all
from laconic.agent.toolbox import Toolbox
from laconic.agent.usage_recorder import UsageRecorder
from laconic.errors import ModelError
from laconic.sessions.trajectories import Trajectory
from laconic.wire.messages import AssistantMessage, CallResult, Message, ModelCall, ToolResults, UserMessage

_PATIENCE: Final = 2  # answers in a row of which nothing can be used, before the third is the last


class AgentObserver(Protocol):
    """Sees what happens, as it happens."""

    def text(self, text: str) -> None: ...

    def on_call(self, use: ModelCall) -> None: ...

    def on_result(self, outcome: CallResult) -> None: ...


class SilentObserver:
    """Nobody looks."""

    def text(self, text: str) -> None: ...

    def on_call(self, use: ModelCall) -> None: ...

    def on_result(self, outcome: CallResult) -> None: ...


@dataclass(slots=True)
class Agent:
    """One session."""

    client: ModelClient
    tools: Toolbox
    record: Trajectory
    recorder: UsageRecorder
    watch: AgentObserver = field(default_factory=SilentObserver)
    malformed: Counter[str] = field(default_factory=Counter)  # calls that could not run, by reason
    snapshot: str = ""  # what the first task is told about the folder
    _useless: int = 0  # answers in a row

    def work(self, task: str = "") -> str:
        """Until the model makes no more calls: what it says then is the answer."""
        self._take_up()
        if self.record.messages:
            last = self.record.messages[-1]
        else:
            last = None
        if task:
            told = ""
            if self.snapshot and not self.record.messages:
                told = f"\n\n<folder>\n{self.snapshot}\n</folder>"
            self.record.add(UserMessage(f"{task}{told}"))
        elif isinstance(last, AssistantMessage) and last.text.strip():
            self.watch.text(last.text)
            return last.text  # killed between the answer and its end
        while True:
            self.recorder.spent.check()
            said = self.client.ask(tuple(self.record.messages), self.tools.tasks.current, self.watch.text)
            reasons = self._reasons(said)
            self.recorder.turn([reason for reason in (*reasons, *(one.reason for one in said.broken)) if reason])
            self.record.add(AssistantMessage(said.text, said.uses, said.native, self.client.format))
            if said.uses or said.broken:
                self._act(said, reasons)
            elif said.text.strip() and not said.truncated:
                return said.text
            else:
                self._urge(CUT_OFF if said.truncated else NOTHING_SAID)

    def close(self) -> None:
        self.tools.close()
        self.recorder.close()
        self.record.close()

    def _act(self, said: ModelOutput, reasons: Sequence[str]) -> None:
        """Run what may run, and tell the model what came of all."""
        outcomes = []
        for use, reason in zip(said.uses, reasons, strict=True):
            outcomes.append(self._call_tool(use, reason))
        for broken in said.broken:
            self.malformed[broken.reason] += 1
        note = not_run_all([(broken.reason, broken.name) for broken in said.broken])
        if not outcomes:
            self._urge(note)
            return
        if note:
            last = outcomes[-1]
            outcomes[-1] = CallResult(last.name, f"{last.text}\n{note}", last.id, last.failed)
        self.record.add(ToolResults(tuple(outcomes)))
        self._useless = self._useless + 1 if all(reasons) else 0
        self._give_up()

    def _reasons(self, said: ModelOutput) -> list[str]:
        """Why each call may not run; empty: it may.

        When one of several is broken, or the message was cut off, nothing is changed.
        """
        spoilt = ""
        if any(use.broken for use in said.uses):
            spoilt = "batch"
        if said.truncated:
            spoilt = "truncated"
        found = []
        for use in said.uses:
            known = self.tools.knows(use.name)
            spoils = ""
            if known and self.tools.writes(use.name):
                spoils = spoilt
            found.append(use.broken or ("" if known else "unknown-tool") or spoils)
        return found

    def _call_tool(self, use: ModelCall, reason: str) -> CallResult:
        self.watch.on_call(use)
        if reason:
            self.malformed[reason] += 1
        if reason and reason != "unknown-tool":
            outcome = CallResult(use.name, not_run(reason, use.name), use.id, failed=True)
        else:  # of a tool that is not there the code plane says which are
            reply = self.tools.call(use.name, use.arguments)
            outcome = CallResult(use.name, reply.text, use.id, reply.failed)
        self.watch.on_result(outcome)
        return outcome

    def _urge(self, note: str) -> None:
        """Nothing of this answer could be used; the model is told why."""
        self.record.add(UserMessage(note))
        self._useless += 1
        self._give_up()

    def _give_up(self) -> None:
        if self._useless > _PATIENCE:
            raise ModelError(
                f"{self.client.settings.model} gave {self._useless} unusable answers in a row.",
                "Try another model, or --protocol native or prompted.",
            )

    def _take_up(self) -> None:
        """Go on after a kill: calls without results get one. What only reads is asked again, nothing else is."""
        messages: list[Message] = self.record.messages
        self.tools.remember(messages)
        last = messages[-1] if messages else None
        if isinstance(last, AssistantMessage) and last.uses:
            self.record.add(ToolResults(tuple(self._repeat_lost_call(use) for use in last.uses)))

    def _repeat_lost_call(self, use: ModelCall) -> CallResult:
        if use.broken or self.tools.writes(use.name):
            return CallResult(use.name, INTERRUPTED, use.id, failed=True)
        return self._call_tool(use, "")
