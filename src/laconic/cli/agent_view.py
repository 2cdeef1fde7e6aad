"""What a person sees while the agent works: its words as they arrive, its calls, and their results in short."""

from __future__ import annotations

from typing import Final, Literal

from rich.console import Console
from rich.markup import escape
from rich.prompt import Prompt

from laconic.wire.messages import CallResult, ModelCall

_LINES: Final = 6  # of a result
_WIDEST: Final = 160
_CONTROLS: Final = dict.fromkeys((*range(9), *range(11, 32), 127))  # what a terminal would obey


class TerminalView:
    """Prints to a terminal, or plainly where that is none."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._open = False  # a line of the model's text is not ended

    def text(self, text: str) -> None:
        self._console.print(text.translate(_CONTROLS), end="", markup=False, highlight=False, soft_wrap=True)
        if text:
            self._open = not text.endswith("\n")

    def on_call(self, use: ModelCall) -> None:
        self._line()
        shown = ", ".join(f"{name}={_short(value, 80)}" for name, value in use.arguments.items())
        self._console.print(f"[bold cyan]{escape(use.name)}[/] [dim]{escape(shown[:400])}[/]", highlight=False)

    def on_result(self, outcome: CallResult) -> None:
        lines = outcome.text.translate(_CONTROLS).rstrip("\n").split("\n")
        style = "red" if outcome.failed else "dim"
        for line in lines[:_LINES]:
            self._console.print(f"  {line[:_WIDEST]}", style=style, markup=False, highlight=False, soft_wrap=True)
        if len(lines) > _LINES:
            self._console.print(f"  … {len(lines) - _LINES} more lines", style="dim", highlight=False)

    def note(self, text: str, style: str = "dim") -> None:
        self._line()
        self._console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    def ask(self, command: str) -> Literal["yes", "no", "always"]:
        """Whether a command may run."""
        self._line()
        self._console.print(f"[bold yellow]run?[/] {escape(command.translate(_CONTROLS))}", highlight=False)
        word = Prompt.ask("y(es), n(o), a(lways this)", choices=["y", "n", "a"], default="n", console=self._console)
        answers: dict[str, Literal["yes", "no", "always"]] = {"y": "yes", "n": "no", "a": "always"}
        return answers[word]

    def _line(self) -> None:
        if self._open:
            self._console.print()
            self._open = False


def _short(value: object, size: int) -> str:
    text = " ".join(str(value).translate(_CONTROLS).split())
    if len(text) <= size:
        return text
    return f"{text[: size - 1]}…"
