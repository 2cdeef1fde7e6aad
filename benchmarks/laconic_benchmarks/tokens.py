"""Token counting against tiktoken: differences, in all and by kind of content, and throughput."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic.tokens.exact import Measure, encoder, load
from laconic_benchmarks.corpus import DJANGO, sdist, texts
from laconic_benchmarks.report import Bar, Options, Report, at_least, at_most, sampled, versions

_QUICK = 300  # texts for a first look
_CJK = ("ja", "ko", "zh_Hans", "zh_Hant")


def run(options: Options) -> Report:
    """Count every file of Django and of the recorded data both ways."""
    django, data = sdist(DJANGO, Path(options.cache)), Path(options.data)
    whole = [text for _, text in texts(django)] + list(_recorded(data))
    corpus = sampled(whole, _QUICK if options.quick else 0)
    rows: list[dict[str, Cell]] = []
    bars: list[Bar] = []
    for encoding in ("o200k_base", "cl100k_base"):
        ours, theirs = load(encoding), reference(encoding)
        ids = encoder(encoding).encode_ordinary
        different = sum(ids(text) != theirs.encode_ordinary(text) for text in corpus)
        timed = _race(corpus, ours, theirs.encode_ordinary)
        size = sum(len(text.encode()) for text in corpus) / 1e6
        rows.append(
            {
                "what": encoding,
                "texts": len(corpus),
                "MB": round(size, 1),
                "differences": different + timed.differences,
                "MB/s": round(size / timed.ours, 1),
                "tiktoken MB/s": round(size / timed.theirs, 1),
            }
        )
        bars.append(at_most(f"{encoding}: texts that differ from tiktoken", different + timed.differences, 0))
        bars.append(at_least(f"{encoding}: times tiktoken's throughput", timed.theirs / timed.ours, 3))
    exact, theirs = counter("o200k_base"), reference("o200k_base")
    for kind, samples in _kinds(django, data).items():
        different = sum(exact(text) != len(theirs.encode_ordinary(text)) for text in samples)
        size = sum(len(text.encode()) for text in samples) / 1e6
        rows.append({"what": kind, "texts": len(samples), "MB": round(size, 1), "differences": different})
        bars.append(at_most(f"{kind}: texts that differ from tiktoken", different, 0))
    return Report(
        "tokens",
        f"{DJANGO} sdist and recorded data",
        exact.name,
        tuple(rows),
        tuple(bars),
        versions=versions("splintr-rs", "tiktoken"),
    )


class _Race:
    def __init__(self) -> None:
        self.ours = self.theirs = 0.0
        self.differences = 0


def _race(corpus: list[str], ours: Measure, theirs: Callable[[str], list[int]]) -> _Race:
    race = _Race()
    for text in corpus:
        start = time.process_time()
        mine = ours(text)
        middle = time.process_time()
        other = theirs(text)
        race.ours += middle - start
        race.theirs += time.process_time() - middle
        race.differences += mine != len(other)
    return race


def reference(encoding: str) -> Any:
    """tiktoken itself, with the vocabulary from another wheel, since its own would be downloaded."""
    import bpe_openai
    import tiktoken

    source = bpe_openai.get_encoding(encoding)
    return tiktoken.Encoding(
        encoding, pat_str=source._pat_str, mergeable_ranks=source._mergeable_ranks, special_tokens={}
    )


def _recorded(data: Path) -> Iterator[str]:
    yield from (text for _, text in texts(data, limit=20_000_000))
    for path in sorted(data.rglob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from lines


def _kinds(django: Path, data: Path) -> dict[str, list[str]]:
    outputs = [json.loads(line) for line in (data / "outputs" / "dev.jsonl").read_text("utf-8").splitlines()]

    def output(*categories: str) -> list[str]:
        chosen = [row["text"] for row in outputs if row["category"] in categories]
        return [text[at : at + 8000] for text in chosen for at in range(0, len(text), 8000)]

    locale = [text for path, text in texts(django, ".po") if path.parts[-3] in _CJK]
    return {
        "code": [text for _, text in texts(django, ".py", ".js", ".css")],
        "prose": [text for _, text in texts(django / "docs", ".txt")] + [text for _, text in texts(django, ".rst")],
        "JSON": output("json") + [text for _, text in texts(django, ".json", ".geojson")],
        "logs": output("log", "pytest", "unittest", "gotest", "mvn", "javac", "rustc", "tsc", "lint", "install"),
        "diffs": output("git") + list(_diffs(data)),
        "CJK": locale,
    }


def _diffs(data: Path) -> Iterator[str]:
    for path in sorted((data / "trajectories").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                for message in json.loads(line)["messages"]:
                    content = message.get("content")
                    if message["role"] == "tool" and isinstance(content, str) and content.startswith("diff --git"):
                        yield content[:20_000]
