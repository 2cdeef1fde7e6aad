"""Which server has a prompt, a resource or a task, and the lists of these over all servers."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final

from laconic.errors import ServerUnavailable
from laconic.mcp_proxy.messages import INVALID_PARAMS, NOT_FOUND, ErrorAnswer, Message
from laconic.mcp_proxy.server_group import ServerGroup
from laconic.mcp_proxy.tool_lines import visible

_LISTS: Final = {  # the key of its items, their identity, and the capability of servers that have it
    "prompts/list": ("prompts", "name", "prompts"),
    "resources/list": ("resources", "uri", "resources"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate", "resources"),
}
_TASKS: Final = 1_000  # that are remembered
_READING: Final = 10.0  # seconds for a server to say whether it has a resource


class Routes:
    """Learns from the lists that servers give."""

    def __init__(self, group: ServerGroup) -> None:
        self._group = group
        self._prompts: dict[str, tuple[str, str]] | None = None  # name here: server and name there
        self._resources: dict[str, str] = {}  # address: server
        self._templates: dict[str, str] = {}
        self._tasks: dict[str, str] = {}

    def forget(self) -> None:
        """Something changed: ask again."""
        self._prompts = None
        self._resources.clear()
        self._templates.clear()

    def note(self, server: str, result: Message) -> None:
        """Remember who works on a task."""
        task = result.get("task")
        if isinstance(task, dict) and isinstance(task.get("taskId"), str):
            self._tasks[task["taskId"]] = server
            while len(self._tasks) > _TASKS:
                del self._tasks[next(iter(self._tasks))]

    async def collect(self, method: str) -> Message:
        """A list over all servers, in one page."""
        key, identity, capability = _LISTS[method]
        found = await self._group.collect_all(method, key, capability)
        if method == "prompts/list":
            return {key: self._name_prompts(found)}
        known = self._resources if method == "resources/list" else self._templates
        items: list[Message] = []
        for server, item in found:
            address = str(item.get(identity, ""))
            if known.setdefault(address, server) == server:
                items.append(item)
        return {key: items}

    async def find(self, method: str, params: Message) -> tuple[str, Message]:
        """The server that answers a request, and the parameters as that server knows them; empty where none does."""
        if method == "prompts/get":
            server, name = await self._find_prompt(str(params.get("name", "")))
            return server, {**params, "name": name}
        if method in {"resources/read", "resources/subscribe", "resources/unsubscribe"}:
            return await self._find_resource(str(params.get("uri", ""))), params
        if method == "completion/complete":
            return await self._find_completion(params)
        task = params.get("taskId")
        if method.startswith("tasks/") and isinstance(task, str) and task in self._tasks:
            return self._tasks[task], params
        if len(self._group.connections) == 1:
            return next(iter(self._group.connections)), params
        return "", params

    def _name_prompts(self, found: list[tuple[str, Message]]) -> list[Message]:
        """Prompts keep their names, unless two servers have the same one."""
        counted = Counter(str(item.get("name", "")) for _, item in found)
        self._prompts = {}
        items: list[Message] = []
        for server, item in found:
            own = str(item.get("name", ""))
            name = f"{server}_{own}" if counted[own] > 1 else own
            self._prompts[name] = (server, own)
            items.append({**item, "name": name})
        return items

    async def _find_prompt(self, name: str) -> tuple[str, str]:
        if self._prompts is None:
            await self.collect("prompts/list")
        known = (self._prompts or {}).get(name)
        if known is not None:
            return known
        servers = self._having("prompts")
        if len(servers) == 1:
            return servers[0], name  # it says best that it has none
        raise ErrorAnswer(INVALID_PARAMS, f"Unknown prompt: {visible(name, 80)}")

    async def _find_resource(self, address: str) -> str:
        servers = self._having("resources")
        if len(servers) <= 1:
            return servers[0] if servers else ""
        if address not in self._resources:
            await asyncio.gather(self.collect("resources/list"), self.collect("resources/templates/list"))
        if address in self._resources:
            return self._resources[address]
        for template, server in self._templates.items():
            fixed = template.partition("{")[0]
            if fixed and address.startswith(fixed):
                return server
        return await self._try_all(servers, address)

    async def _try_all(self, servers: list[str], address: str) -> str:
        """The first server that can read an address which none has listed."""
        for server in servers:
            try:
                async with asyncio.timeout(_READING):
                    connection = await self._group.ready(server)
                    await connection.request("resources/read", {"uri": address})
            except (ErrorAnswer, ServerUnavailable, TimeoutError):
                continue
            self._resources[address] = server
            return server
        raise ErrorAnswer(NOT_FOUND, f"No server has the resource {visible(address, 200)}.")

    async def _find_completion(self, params: Message) -> tuple[str, Message]:
        ref = params.get("ref")
        if not isinstance(ref, dict):
            raise ErrorAnswer(INVALID_PARAMS, "`ref` is missing.")
        if "name" in ref:
            server, name = await self._find_prompt(str(ref["name"]))
            return server, {**params, "ref": {**ref, "name": name}}
        address = str(ref.get("uri", ""))
        if address not in self._templates:
            await self.collect("resources/templates/list")
        return self._templates.get(address) or await self._find_resource(address), params

    def _having(self, capability: str) -> list[str]:
        return [name for name in self._group.connections if self._group.has(name, capability)]
