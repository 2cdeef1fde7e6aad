"""All tools of all servers under the names by which a client calls them, and a search over them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from laconic.mcp_proxy.messages import Message
from laconic.mcp_proxy.tool_lines import properties_of, visible

_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_JOINT: Final = "/"


@dataclass(frozen=True, slots=True)
class ForeignTool:
    """A tool of a server, and the name by which a client calls it."""

    server: str
    tool: Message
    name: str

    @property
    def key(self) -> str:
        return f"{self.server}{_JOINT}{self.tool.get('name', '')}"


class ToolDirectory:
    """Names are the servers' own. Where two servers use the same one, one of ours, or one that begins with another
    server's name, the server's name is put before."""

    def __init__(self, listings: Mapping[str, Sequence[Message]], reserved: Collection[str]) -> None:
        counted: Counter[str] = Counter(reserved)
        prefixes = tuple(f"{server}{mark}" for server in listings for mark in (_JOINT, "_"))
        for tools in listings.values():
            counted.update({str(tool["name"]) for tool in tools})
        self._by_name: dict[str, ForeignTool] = {}
        self._by_key: dict[str, ForeignTool] = {}
        self._shared: dict[str, list[str]] = {}
        for server, tools in listings.items():
            for tool in tools:
                own = str(tool["name"])
                is_claimed = own.startswith(prefixes) and not own.startswith(f"{server}_")
                self._add(server, tool, taken=counted[own] > 1 or own in reserved or is_claimed)

    def _add(self, server: str, tool: Message, *, taken: bool) -> None:
        own = str(tool["name"])
        name = own
        if taken:
            name = f"{server}_{own}"
        while name in self._by_name:
            name += "_"
        entry = ForeignTool(server, tool, name)
        if entry.key in self._by_key:
            return  # a server that lists a name twice: the first counts
        self._by_name[name] = entry
        self._by_key[entry.key] = entry
        if taken:
            self._shared.setdefault(own, []).append(name)

    def all(self) -> list[ForeignTool]:
        return list(self._by_name.values())

    def find(self, name: str) -> ForeignTool | None:
        """As `server/tool`, which nobody can take, or by its name here."""
        return self._by_key.get(name) or self._by_name.get(name)

    def near(self, name: str) -> list[str]:
        """Names that may have been meant: those that share it, or that look alike."""
        shared = self._shared.get(name)
        if shared:
            return list(shared)
        close = get_close_matches(name, self._by_name, n=3, cutoff=0.6)
        if close:
            return close
        return [found.name for found in self.search(name)[:3]]

    def search(self, query: str) -> list[ForeignTool]:
        """Tools that share words with a query, best first: a word in a name counts more than one in a description."""
        wanted = _stems(query)
        if not wanted:
            return self.all()
        scored: list[tuple[float, int, ForeignTool]] = []
        frequency: Counter[str] = Counter()
        texts = []
        for entry in self._by_name.values():
            name = _stems(f"{entry.server} {entry.tool.get('name', '')} {entry.tool.get('title', '')}")
            about = _stems(visible(str(entry.tool.get("description", "")), 4_000))
            arguments = _stems(" ".join(map(str, properties_of(entry.tool))))
            frequency.update(name | about | arguments)
            texts.append((entry, name, about, arguments))
        for place, (entry, name, about, arguments) in enumerate(texts):
            score = 0.0
            for word in wanted:
                weight = 1 + 1 / frequency[word] if frequency[word] else 0
                score += weight * (4 * (word in name) + 2 * (word in about) + (word in arguments))
            if score:
                scored.append((-score, place, entry))
        return [entry for _, _, entry in sorted(scored, key=lambda one: one[:2])]


def _stems(text: str) -> set[str]:
    """Words without their endings: `files`, `listing` and `list` meet."""
    found = set()
    for word in _WORDS.findall(text):
        stem = word.lower()
        for ending in ("ies", "ing", "es", "ed", "s"):
            if stem.endswith(ending) and len(stem) - len(ending) >= 3:
                stem = stem[: -len(ending)]
                break
        found.add(stem)
    return found
