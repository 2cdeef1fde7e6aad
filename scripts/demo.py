"""What `make demo` shows: each part of Laconic at work on this repository, and what it saved.

Everything is done for real: the index is built, the questions go through the MCP client of the official SDK to
`laconic mcp`, the test output comes from a test run, and the conversation that is replayed is recorded here, by
answering an agent's usual calls with the files and searches of this repository.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mcp import Client, StdioServerParameters

from laconic.tokens.count import counter

ROOT = Path(__file__).resolve().parent.parent
LACONIC = [sys.executable, "-m", "laconic"]
QUESTIONS: tuple[tuple[str, str, dict[str, object], list[str]], ...] = (
    (
        "Where is a call answered, and who calls that?",
        "inspect",
        {"symbol": "ToolRuntime.call"},
        [
            "grep -rn 'def call' src",
            "sed -n 1,200p src/laconic/tool_runtime/runtime.py",
            "grep -rn '\\.call(' src tests",
        ],
    ),
    (
        "How are items fitted into a budget?",
        "search",
        {"query": "path:src/** fit items into a budget of tokens"},
        ["grep -rniE 'fit|budget' src/laconic/reduce", "cat src/laconic/reduce/fit.py"],
    ),
    (
        "What is in the token package?",
        "map",
        {"path": "src/laconic/tokens/count.py"},
        ["ls -la src/laconic/tokens", "cat src/laconic/tokens/count.py"],
    ),
    (
        "The count of text with lone surrogates is wrong. Where do I look?",
        "context",
        {"task": "the token count of text with lone surrogates is wrong", "path": "src", "budget": 1500},
        ["grep -rniE 'surrogate' src", "cat src/laconic/tokens/count.py"],
    ),
)


def main() -> int:
    count = counter()
    rows: list[tuple[str, int, int]] = []
    _title("1. Index this repository")
    print(_run([*LACONIC, "index", str(ROOT)]).strip().replace(str(ROOT), "this repository"))
    _title("2. Ask through a real MCP client")
    answers = asyncio.run(_ask())
    for (question, tool, _, commands), answer in zip(QUESTIONS, answers, strict=True):
        native = "".join(_run(["sh", "-c", command]) for command in commands)
        print(f"\n> {question}  [{tool}: {count(answer)} tokens; grep, sed and cat: {count(native)}]")
        print("\n".join(answer.splitlines()[:14]))
        rows.append((f"{tool}: {question}", count(native), count(answer)))
    _title("3. Make a test run small")
    output = _run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-o",
            "addopts=--import-mode=importlib",
            "-v",
            "tests/tokens",
            "tests/render",
        ]
    )
    small = _run([*LACONIC, "reduce"], output)
    print(small.strip())
    rows.append(("reduce: a test run", count(output), count(small)))
    _title("4. Replay a conversation")
    with tempfile.TemporaryDirectory() as folder:
        recorded = Path(folder) / "session.json"
        recorded.write_text(json.dumps({"messages": _record()}), "utf-8")
        print(_run([*LACONIC, "replay", str(recorded)]).strip())
    _title("What was saved")
    for name, before, after in rows:
        print(f"{before:7} -> {after:6} tokens  {1 - after / max(1, before):4.0%} fewer  {name}")
    return 0


async def _ask() -> list[str]:
    server = StdioServerParameters(command=LACONIC[0], args=[*LACONIC[1:], "mcp", "--root", str(ROOT)])
    answers: list[str] = []
    async with Client(server) as client:
        for _, tool, arguments, _ in QUESTIONS:
            reply = await client.call_tool(tool, arguments)
            answers.append("".join(part.text for part in reply.content if part.type == "text"))
    return answers


def _record() -> list[dict[str, object]]:
    """A session of an agent that reads and searches this repository, in the form of the chat API."""
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "Find out how answers are kept within a budget."}
    ]
    files = sorted((ROOT / "src/laconic/tools").glob("*.py"))
    calls: list[tuple[str, dict[str, object], str]] = []
    for path in files[:14]:
        name = path.relative_to(ROOT).as_posix()
        lines = path.read_text("utf-8").splitlines()
        shown = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))
        calls.append(("Read", {"file_path": name}, shown))
        word = next(iter(re.findall(r"^def (\w+)", path.read_text("utf-8"), re.MULTILINE)), "run")
        calls.append(("Bash", {"command": f"grep -rn {word} src"}, _run(["grep", "-rn", word, "src"])))
        calls.append(("Read", {"file_path": name}, shown))
    for number, (tool, arguments, result) in enumerate(calls):
        call = {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps(arguments)},
        }
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": result or "(nothing)"})
    return [*messages, {"role": "assistant", "content": "compose() counts the final text."}]


def _run(command: Sequence[str], given: str = "") -> str:
    done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
    if command[0] == sys.executable and done.returncode not in {0, 1}:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def _title(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
