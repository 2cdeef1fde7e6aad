"""Two agents with a shell and nothing else: one that searches and reads with care, one that does not."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Final

from laconic_benchmarks.printed import Line
from laconic_benchmarks.turns.clues import Clues
from laconic_benchmarks.turns.shell import Shell
from laconic_benchmarks.turns.walk import Called, Policy

_AT_ONCE: Final = 4  # searches or reads in one turn
_TELLING: Final = 8  # words that are looked for inside a file
_HITS: Final = 30  # lines of hits in one file
_USES: Final = 10  # lines with a name
_WINDOW: Final = 40  # lines of a read
_ABOVE: Final = 8  # of them above a hit whose definition is not known
_DEFINES: Final = (
    r"\b(?:def|class|fn|func|function|struct|trait|interface|enum|type|const|module)\s+(?:\([^)]*\)\s*)?"
)
_OPENS: Final = re.compile(rf"\s*(?:[\w()]+\s+)*?{_DEFINES}\w")
# Sorted, since the order of parallel hits, of which only the first are shown, changes from run to run.
_CODE: Final = "--sort path -g '*.{py,ts,tsx,js,mjs,rs,go,rb,java,c,h,cpp}' -g '!*test*'"
_RANKED: Final = (
    'for w in {words}; do rg -il {code} -e $w | awk -v w=$w \'{{f[NR]=$0}} END {{print NR, w > "/dev/stderr";'
    " for (i in f) print 1/sqrt(NR), f[i]}}'; done | awk '{{s[$2]+=$1}} END {{for (f in s) print s[f], f}}'"
    " | sort -rn | head -15"
)


def careful(text: str, shell: Shell) -> Policy:
    """Several searches at once, then the hits in the best files, then reads of the functions around the best hits."""
    clues = Clues.of(text)
    if not clues.words:
        return
    first = [shell.run(command) for command in _searches(clues)]
    yield first
    weights = _weights(clues, first)
    files = _best_files(clues, first)
    pattern = "|".join(sorted(weights, key=lambda word: (-weights[word], word))[:_TELLING])
    search = f"rg -n -i {quote(pattern)}"
    listed = [shell.search(search, path, _HITS) for path in files[:_AT_ONCE]]
    if listed:
        yield listed
    windows = _windows(weights, files, [line for call in (*first, *listed) for line in call.lines])
    while windows:
        yield [shell.read(*window) for window in windows[:_AT_ONCE]]
        windows = windows[_AT_ONCE:]


def naive(text: str, shell: Shell) -> Policy:
    """The first telling word, recursively; then whole files, one a turn."""
    clues = Clues.of(text)
    seen: set[str] = set()
    for word in (*clues.names, *clues.words):
        found = shell.run(f"grep -rnI -- {quote(word)} . | head -50 | cut -c1-200 | sed 's#^\\./##'")
        yield [found]
        counts: defaultdict[str, int] = defaultdict(int)
        for line in found.lines:
            counts[line.path] += 1
        for path in sorted(counts, key=lambda path: (-counts[path], path))[:2]:
            if path not in seen:
                seen.add(path)
                yield [shell.read(path)]


def _searches(clues: Clues) -> Iterator[str]:
    """Files by the rare words they hold, definitions and files named by the words, then each name by itself."""
    each = " ".join(quote(word) for word in clues.words)
    defined = rf"{_DEFINES}\w*({clues.pattern})"
    yield _RANKED.format(words=each, code=_CODE)
    yield f"rg -n -i {_CODE} {quote(defined)} | cut -c1-160 | head -25"
    yield f"rg --files {_CODE} | rg -i {quote('|'.join([*map(_as_file, clues.names), clues.pattern]))} | head -15"
    for name in clues.names[:_AT_ONCE]:
        yield f"rg -n -w {_CODE} {quote(name)} | cut -c1-160 | head -{_USES}"


def _as_file(name: str) -> str:
    """A name as it stands in the name of a file, whatever the style: `RedundantParentheses` is redundant_parentheses."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return "[_-]?".join(re.escape(part.lower()) for part in parts) or re.escape(name)


def _weights(clues: Clues, calls: Sequence[Called]) -> dict[str, float]:
    """How telling each word is that occurs at all: the fewer files, the more; names by how seldom they are used."""
    found = {row[2]: int(row[1]) for row in re.finditer(r"^(\d+) (\w+)$", calls[0].answer, re.MULTILINE)}
    weights = {word: 1 / math.log2(2 + found[word]) for word in clues.words if found.get(word)}
    for name, call in zip(clues.names, calls[3:], strict=False):
        if call.lines:
            weights[name.lower()] = 1.0 if len(call.lines) < _USES else 0.4
    return weights


def _best_files(clues: Clues, calls: Sequence[Called]) -> list[str]:
    """Files in the order in which an agent would look at them."""
    scores: defaultdict[str, float] = defaultdict(float)
    for row in re.finditer(r"^([\d.]+) (\S*[./]\S*)$", calls[0].answer, re.MULTILINE):
        scores[row[2]] += float(row[1])
    for line in calls[1].lines:
        scores[line.path] += 0.1
    named = re.compile("|".join(map(_as_file, clues.names)) or r"$^", re.IGNORECASE)
    for path in calls[2].answer.splitlines():
        scores[path] += 1.0 if named.search(path.rsplit("/", 1)[-1]) else 0.2
    for call in calls[3:]:
        for line in call.lines:
            scores[line.path] += (1.0 if _OPENS.match(line.text) else 0.3) / max(2, len(call.lines))
    for path in scores:
        scores[path] += 3 * any(path.endswith(told) for told in clues.paths)
    return sorted(scores, key=lambda path: (-scores[path], path))


def _windows(weights: Mapping[str, float], files: Sequence[str], hits: Sequence[Line]) -> list[tuple[str, int, int]]:
    """Ranges of lines worth reading, best first: dense in telling words, in good files."""
    rank = {path: 1 / (2 + at) for at, path in enumerate(files)}
    by_file: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for line in hits:
        by_file[line.path][line.number] = line.text
    found: list[tuple[float, str, int, int]] = []
    for path, lines in by_file.items():
        left = {number for number, text in lines.items() if any(word in text.lower() for word in weights)}
        while left:
            worth, start = max((_worth(weights, lines, number), _start(lines, number)) for number in left)
            found.append((worth * (0.3 + rank.get(path, 0.02)), path, start, start + _WINDOW - 1))
            left -= set(range(start, start + _WINDOW))
    found.sort(key=lambda each: (-each[0], each[1], each[2]))
    return [(path, start, end) for _, path, start, end in found]


def _start(lines: Mapping[int, str], number: int) -> int:
    """The nearest definition above a hit that is known; a few lines above it otherwise."""
    above = [at for at in lines if number - _WINDOW // 2 <= at <= number and _OPENS.match(lines[at])]
    return max(above) if above else max(1, number - _ABOVE)


def _worth(weights: Mapping[str, float], lines: Mapping[int, str], number: int) -> float:
    """The words within the window of a hit, by weight; a definition that is named by them counts more."""
    start = _start(lines, number)
    near = [text.lower() for at, text in lines.items() if start <= at < start + _WINDOW]
    words = sum(weight for word, weight in weights.items() if any(word in text for text in near))
    return words + 0.3 * bool(_OPENS.match(lines[number]))
