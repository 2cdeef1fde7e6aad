"""Recorded command outputs made smaller: by us, by a peer's one-call interface, and by the cut that agents make."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from laconic.config import child_environment
from laconic.errors import CommandFailed
from laconic.reduce.text import reduce_text
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic_benchmarks.outputs import Output, lost_facts
from laconic_benchmarks.peers.environments import Peer, environment, installed, peer
from laconic_benchmarks.peers.headroom import HEADROOM
from laconic_benchmarks.report import Options

_SECONDS: Final = 900
_CUT: Final = 30_000  # characters that hosts let through, half of them from the end
# The program that runs in the peer's environment: texts in, each as the result of a tool, texts out.
_COMPRESS: Final = """
import json, sys
from headroom import compress
done = []
for text in json.load(open(sys.argv[1])):
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{\\"command\\": \\"make\\"}"}}
    messages = [{"role": "user", "content": "Run it and tell me what is wrong."},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": text}]
    done.append(compress(messages, model="gpt-4o").messages[-1]["content"])
json.dump(done, open(sys.argv[2], "w"))
"""


def compressed(options: Options, peers: Sequence[Peer], notes: list[str]) -> list[dict[str, Cell]]:
    """Facts kept against tokens kept; a fact survives when its parts stand near each other."""
    lines = (Path(options.data) / "outputs" / "dev.jsonl").read_bytes().splitlines()
    outputs = [msgspec.json.decode(line, type=Output) for line in lines if line.strip()]
    cost = counter()
    ways: dict[str, Callable[[Sequence[str]], list[str]]] = {
        "laconic": lambda texts: [
            reduce_text(text, cost=cost, more="whole: laconic recall 0a1b2c3d").text for text in texts
        ],
        f"cut at {_CUT:,} characters": lambda texts: [_cut(text) for text in texts],
    }
    number = installed(Path(options.cache), peer(HEADROOM))
    if number and peer(HEADROOM) in peers:
        ways[f"{HEADROOM} {number}"] = lambda texts: _headroom(Path(options.cache), texts)
    rows: list[dict[str, Cell]] = []
    for name, way in ways.items():
        options.progress(f"peers: outputs by {name}")
        started = time.perf_counter()
        try:
            views = way([output.text for output in outputs])
        except CommandFailed as error:
            notes.append(f"{name}: {error}")
            continue
        seconds = time.perf_counter() - started
        facts = sum(len(output.facts) for output in outputs)
        lost = sum(len(lost_facts(output.facts, view)) for output, view in zip(outputs, views, strict=True))
        kept = sum(map(cost, views)) / sum(cost(output.text) for output in outputs)
        rows.append(
            {
                **{"measure": f"{len(outputs)} command outputs", "by": name},
                **{"facts kept": 1 - lost / facts, "tokens kept": kept, "answers s": seconds},
            }
        )
    return rows


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else f"{text[: _CUT // 2]}\n[...]\n{text[-_CUT // 2 :]}"


def _headroom(cache: Path, texts: Sequence[str]) -> list[str]:
    python = environment(cache, peer(HEADROOM)) / "bin" / "python"
    with tempfile.TemporaryDirectory() as folder:
        given, told = Path(folder) / "given.json", Path(folder) / "told.json"
        given.write_bytes(msgspec.json.encode(texts))
        try:
            done = subprocess.run(
                [str(python), "-c", _COMPRESS, str(given), str(told)],
                env=child_environment({"HOME": folder}),
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CommandFailed(f"it took longer than {_SECONDS} s.") from None
        if done.returncode:
            raise CommandFailed(f"it failed: {done.stderr.strip().rsplit(chr(10), 1)[-1][-200:]}")
        return msgspec.json.decode(told.read_bytes(), type=list[str])
