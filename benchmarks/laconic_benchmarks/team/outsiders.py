"""Calls to an organisation's index that must bring nothing of other people's repositories."""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import aiohttp

from laconic.organisation.folder import OrganisationFolder
from laconic_benchmarks.report import Bar, Options, at_least, at_most
from laconic_benchmarks.team.forks import BenchRepository, make_repositories
from laconic_benchmarks.team.organisation_cluster import OrganisationClient, OrganisationCluster

Row = dict[str, str | int | float | None]
_AT_ONCE: Final = 8
_SEED: Final = 4711
_REPEATED: Final = 100  # characters of a name that a refusal repeats at most
_COMPARED: Final = 0.1  # of the calls are made again about a repository that does not exist
_REPOSITORIES: Final = 3
_FORKS: Final = 2
_TOOLS: Final = (
    "search",
    "inspect",
    "read",
    "map",
    "context",
    "trace",
    "diff",
    "recall",
    "workspace",
    "edit",
    "report",
)
_INJECTIONS: Final = (
    *("' OR 1=1 --", "'; DROP TABLE repository; --", '" OR ""="', "1) UNION SELECT url FROM repository --"),
    *("*", "all", "%", "_", "../", "..", "/", "~", ".", "@", "@/", "$(cat /etc/passwd)", "\x00", "NEAR(marker*)"),
    *('marker* OR "x"', "body : marker*", "{name path} : m*", "/marker.*/", "/helper_[0-9a-f]+/"),
)


_WORD: Final = re.compile(r"[\w@%./:+~-]+")  # a path, or a name
_OTHER_LETTERS: Final = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")


async def measure_outsiders(options: Options) -> tuple[list[Row], list[Bar]]:
    calls = 300 if options.quick else 20_000
    with TemporaryDirectory(prefix="laconic-forks-") as folder, OrganisationCluster() as cluster:
        repositories = make_repositories(Path(options.mirror), Path(folder), _REPOSITORIES, _FORKS)
        cluster.register(repositories)
        cluster.start_workers()
        indexed = cluster.wait_until_indexed(600)
        cluster.start_server()
        readable = repositories[:1]  # its forks, in the same index, are not
        attackers = _make_attackers(cluster, readable[0])
        async with aiohttp.ClientSession() as client:
            await OrganisationClient(client, cluster.base, "").wait_until_ready()
            owner = OrganisationClient(client, cluster.base, cluster.make_key("owner", "*"))
            found = await _count_found(owner, repositories)
            folder_of_index = OrganisationFolder.of(cluster.settings).root
            attack = _Attack(repositories, readable, folder_of_index, options.seed or _SEED)
            await attack.run(client, cluster.base, attackers, calls)
    row: Row = {
        "part": "outsiders",
        "calls": attack.calls,
        "breaches": len(attack.breaches),
        "compared": attack.compared,
        "told_apart": len(attack.told_apart),
        "seen_by_owner": found,
    }
    for breach in (attack.breaches + attack.told_apart)[:5]:
        options.progress(breach)
    return [row], [
        at_most("answers outside a key's repositories", len(attack.breaches), 0),
        at_most("answers that tell a forbidden repository from a made-up one", len(attack.told_apart), 0),
        at_least("calls", attack.calls, calls),
        at_least("repositories whose secret its owner finds", found, len(indexed)),
        at_least("answers from the repository that the key may read", attack.own, 1),
    ]


def _make_attackers(cluster: OrganisationCluster, readable: BenchRepository) -> dict[str, bool]:
    """Keys, and whether they may read the one repository."""
    keys = {cluster.make_key("insider", readable.name): True, cluster.make_key("outsider"): False}
    shown = cluster.make_key("former", "*")
    cluster.keys.revoke(shown.split("-")[1], "bench")
    keys[shown] = False
    keys[shown[:-1] + "0"] = False
    for made_up in ("", "lac-", "lac-0000000000-" + "0" * 48, "Bearer", "' OR 1=1 --", "lac-*"):
        keys[made_up] = False
    return keys


async def _count_found(owner: OrganisationClient, repositories: Sequence[BenchRepository]) -> int:
    """That the secrets can be found at all."""
    found = 0
    for repository in repositories:
        answer = await owner.ask("read", targets=[f"@{repository.workspace}/own/marker_0.py"])
        found += repository.secret in answer
    return found


def shows(said: str, sent: object, repository: BenchRepository) -> bool:
    """Whether an answer holds anything of a repository: its secret, or its name anywhere but in what the call sent.

    A refusal may repeat a path that it refuses, or its end. Any other path, and any other mention, counts.
    """
    if repository.secret in said:
        return True
    sent_texts = list(_strings(sent))
    for mention in _WORD.findall(said):
        word = mention.rstrip(".:")
        if repository.workspace in word and not any(word in text for text in sent_texts):
            return True
    return False


def rename(name: str) -> str:
    """The same repository of an owner that nobody is: what resembles its own name is offered for both."""
    owner, separator, own = re.split(r"([/+])", name, maxsplit=1)
    return owner.translate(_OTHER_LETTERS) + separator + own


def replace_names(value: Any, names: Mapping[str, str]) -> Any:
    """The same value with other names, the longest first: one name can be the beginning of another."""
    if isinstance(value, str):
        for name in sorted(names, key=len, reverse=True):
            value = value.replace(name, names[name])
        return value
    if isinstance(value, Mapping):
        return {key: replace_names(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [replace_names(inner, names) for inner in value]
    return value


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


class _Attack:
    """Random hostile calls; an answer with a secret that the key may not read is a breach."""

    def __init__(
        self, repositories: Sequence[BenchRepository], readable: Sequence[BenchRepository], folder: Path, seed: int
    ) -> None:
        self._repositories = repositories
        self._readable = {repository.name for repository in readable}
        self._folder = folder
        self._chance = random.Random(seed)
        self.calls = 0
        self.compared = 0
        self.own = 0
        self.breaches: list[str] = []
        self.told_apart: list[str] = []

    async def run(self, client: aiohttp.ClientSession, base: str, keys: dict[str, bool], calls: int) -> None:
        todo = iter(range(calls))
        listed = list(keys)

        async def work() -> None:
            for _ in todo:
                key = self._chance.choice(listed[:2] if self._chance.random() < 0.8 else listed)
                await self._attack(client, base, key, allowed=keys[key])

        await asyncio.gather(*(work() for _ in range(_AT_ONCE)))

    async def _attack(self, client: aiohttp.ClientSession, base: str, key: str, *, allowed: bool) -> None:
        self.calls += 1
        kind = self._chance.random()
        sent: object = None  # what an answer may repeat
        if kind < 0.15:
            said = await self._guess_contents(client, base, key)
            told = f"contents with {key[:14]}"
        elif kind < 0.2:
            told = self._make_path()
            sent = told
            said = await self._ask_path(client, base, key, told)
        else:
            tool, arguments = self._make_call()
            asking = OrganisationClient(client, base, key)
            said = await asking.ask(tool, **arguments)
            told = f"{tool} {arguments} with {key[:14]}"
            sent = arguments
            if self._chance.random() < _COMPARED:
                await self._compare(asking, tool, arguments, said, allowed=allowed)
        for repository in self._repositories:
            if not shows(said, sent, repository):
                continue
            if allowed and repository.name in self._readable:
                self.own += 1
            else:
                self.breaches.append(f"{told}: {repository.name}")

    async def _compare(
        self, asking: OrganisationClient, tool: str, arguments: dict[str, Any], said: str, *, allowed: bool
    ) -> None:
        """Ask the same about repositories that nobody has: the answer must be the same but for their names."""
        made_up: dict[str, str] = {}
        for repository in self._repositories:
            if allowed and repository.name in self._readable:
                continue
            for name in (repository.name, repository.workspace):
                made_up[name] = rename(name)
        other = replace_names(arguments, made_up)
        if other == arguments:
            return
        self.compared += 1
        for text, renamed in zip(_strings(arguments), _strings(other), strict=True):
            made_up[text] = renamed
            made_up[text[:_REPEATED]] = renamed[:_REPEATED]
        answer = await asking.ask(tool, **other)
        if answer != replace_names(said, made_up):
            self.told_apart.append(f"{tool} {arguments}: {said[:200]!r} but {answer[:200]!r}")

    async def _guess_contents(self, client: aiohttp.ClientSession, base: str, key: str) -> str:
        """Random keys: an answer with anything in it is a breach, told by a secret."""
        headers = {"authorization": f"Bearer {key}"}
        async with client.post(f"{base}/laconic/contents", data=os.urandom(16 * 50), headers=headers) as answer:
            data = await answer.read()
        if answer.status == 200 and len(data) > 1:
            return " ".join(repository.secret for repository in self._repositories)
        return ""

    def _make_path(self) -> str:
        name = self._chance.choice(self._repositories).workspace
        paths = (f"/files/{name}/own/marker_0.py", "/contents.sqlite", f"/mcp/../files/{name}", "/hooks/../mcp", "/")
        return self._chance.choice(paths)

    async def _ask_path(self, client: aiohttp.ClientSession, base: str, key: str, path: str) -> str:
        async with client.get(base + path, headers={"authorization": f"Bearer {key}"}) as answer:
            return await answer.text("utf-8", "replace")

    def _make_call(self) -> tuple[str, dict[str, Any]]:
        chance = self._chance
        victim, target = chance.choice(self._repositories), next(self._targets())
        text = chance.choice((*_INJECTIONS, "marker0_", "helper_", "own work number 0", "marker"))
        tool = chance.choice(_TOOLS)
        by_tool: dict[str, dict[str, Any]] = {
            "search": {"query": text, "in": chance.choice(("all", "code", "symbols", "refs", "docs"))},
            "inspect": {"symbol": chance.choice((text, f"@{victim.workspace}/own/marker_0.py::marker0_"))},
            "read": {"targets": [target, next(self._targets())]},
            "map": {"path": chance.choice(("", target))},
            "context": {"task": f"own work {text}", "path": chance.choice(("", target))},
            "trace": {"symbol": text, "to": chance.choice(("", "helper_"))},
        }
        arguments = by_tool.get(tool, {"ref": text, "path": target, "action": "list"})
        if chance.random() < 0.5:
            arguments["workspace"] = chance.choice((victim.name, victim.workspace, target, text, "all", "*"))
        if chance.random() < 0.1:
            arguments["at"] = chance.choice(("HEAD", "HEAD~1", text))
        return tool, arguments

    def _targets(self) -> Iterator[str]:
        chance = self._chance
        own, victim = chance.choice(sorted(self._readable)).replace("/", "+"), chance.choice(self._repositories)
        inner = "own/marker_0.py"
        while True:
            yield chance.choice(
                (
                    f"@{victim.workspace}/{inner}",
                    f"@{own}/../{victim.workspace}/{inner}",
                    f"@{own}/%2e%2e/{victim.workspace}/{inner}",
                    f"../files/{victim.workspace}/{inner}",
                    str(self._folder / "files" / victim.workspace / inner),
                    f"@{own}/{self._folder}/files/{victim.workspace}/{inner}",
                    f"file://{self._folder}/files/{victim.workspace}/{inner}",
                    f"@{victim.name}/{inner}",
                    chance.choice(_INJECTIONS),
                )
            )
