"""Calls to the ten servers, and facts that an answer must still show: they come from the material, not from answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from laconic_benchmarks.around.servers import WORDS


@dataclass(frozen=True, slots=True)
class Question:
    """A call, and texts that a caller needs from its answer, alone or from this session's earlier answers."""

    server: str
    tool: str
    arguments: dict[str, Any]
    facts: tuple[str, ...] = ()


def questions(world: str, site: str, orders: list[dict[str, Any]], commits: list[tuple[str, str]]) -> list[Question]:
    """First items, ids, names, numbers, errors, counts."""
    files, repo = f"{world}/files", f"{world}/repo"
    first = orders[:6]
    named = tuple(str(order["name"]) for order in first)
    errors = ("disk full on /dev/sda7", "timeout after 30s calling billing", "lost 3 of 9 shards")
    messages = tuple(message for _, message in commits[:10])
    hashes = tuple(number for number, _ in commits[:6])
    services = tuple(f"{WORDS[i % 12]}_{i}" for i in range(10))
    ports = tuple(f"port {8000 + i}" for i in range(8))
    notes = tuple(f"note_{i:03d}.txt" for i in range(8))
    return [
        Question("filesystem", "list_directory", {"path": files}, (*notes, "orders.json", "logs", "site")),
        Question(
            "filesystem", "list_directory_with_sizes", {"path": files}, (*notes[:6], "orders.json", "121 files")
        ),
        Question("filesystem", "directory_tree", {"path": files}, (*notes[:6], "server.log", "index.html")),
        Question(
            "filesystem",
            "search_files",
            {"path": files, "pattern": "note_01*"},
            tuple(f"note_01{i}.txt" for i in range(8)),
        ),
        Question("filesystem", "read_text_file", {"path": f"{files}/logs/server.log"}, errors),
        Question("filesystem", "read_text_file", {"path": f"{files}/logs/server.log"}, errors),
        Question(
            "filesystem",
            "read_text_file",
            {"path": f"{files}/orders.json"},
            (*named, "400", *(str(o["price"]) for o in first)),
        ),
        Question("filesystem", "read_text_file", {"path": f"{files}/note_003.txt"}, ("note 3 about",)),
        Question("filesystem", "get_file_info", {"path": f"{files}/orders.json"}, ("size",)),
        Question("filesystem", "read_text_file", {"path": f"{files}/nothing.txt"}, ("ENOENT",)),
        Question("git", "git_log", {"repo_path": repo, "max_count": 40}, (*hashes, *messages, "Ann Author")),
        Question("git", "git_log", {"repo_path": repo, "max_count": 40}, (*hashes[:3], *messages[:5])),
        Question("git", "git_status", {"repo_path": repo}, ("amber.py", "main")),
        Question(
            "git",
            "git_diff_unstaged",
            {"repo_path": repo},
            ("amber.py", "def changed():", "return 'new'", "-def f0():"),
        ),
        Question(
            "git",
            "git_show",
            {"repo_path": repo, "revision": "HEAD"},
            (commits[0][0], commits[0][1], "+    return 39", "delta.py"),
        ),
        Question("git", "git_branch", {"repo_path": repo, "branch_type": "local"}, ("main", "feature/search")),
        Question("sqlite", "list_tables", {}, ("orders",)),
        Question("sqlite", "describe_table", {"table_name": "orders"}, ("id", "name", "price", "state")),
        Question(
            "sqlite", "read_query", {"query": "SELECT * FROM orders"}, (*named, *(str(o["price"]) for o in first))
        ),
        Question("sqlite", "read_query", {"query": "SELECT * FROM orders"}, named),
        Question(
            "sqlite",
            "read_query",
            {"query": "SELECT state, count(*) AS n FROM orders GROUP BY state"},
            ("open", "closed"),
        ),
        Question("sqlite", "read_query", {"query": "SELECT * FROM missing"}, ("no such table: missing",)),
        Question("memory", "read_graph", {}, (*services, *ports, "service")),
        Question("memory", "search_nodes", {"query": "amber"}, tuple(f"amber_{i}" for i in (0, 12, 24, 36))),
        Question("memory", "open_nodes", {"names": ["cedar_2"]}, ("cedar_2", "port 8002")),
        Question("memory", "read_graph", {}, services),
        Question(
            "fetch",
            "fetch",
            {"url": f"{site}/index.html", "max_length": 50000},
            ("Open orders", *named, *WORDS[:4]),
        ),
        Question("fetch", "fetch", {"url": f"{site}/missing.html"}, ("404",)),
        Question(
            "time",
            "convert_time",
            {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
            ("21:00",),
        ),
        Question(
            "thinking",
            "sequentialthinking",
            {"thought": "x", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
            ("thoughtNumber",),
        ),
        Question("everything", "echo", {"message": "hello there"}, ("hello there",)),
        Question("everything", "get-sum", {"a": 17, "b": 25}, ("42",)),
        Question("everything", "get-structured-content", {"location": "Chicago"}, ("temperature", "conditions")),
        Question("everything", "get-resource-links", {"count": 3}, ()),
        Question("playwright", "browser_navigate", {"url": f"{site}/index.html"}, ("Order desk",)),
        Question("playwright", "browser_snapshot", {}, ("Send order", "button", *named, *WORDS[:6])),
        Question("playwright", "browser_click", {"target": "#b", "element": "the button"}, ("Order desk",)),
        Question("playwright", "browser_snapshot", {}, ("Sent 1 order", *named[:3])),
        Question("playwright", "browser_network_requests", {"static": True}, ("index.html",)),
        Question("devtools", "new_page", {"url": f"{site}/index.html"}, ("index.html",)),
        Question("devtools", "take_snapshot", {"pageId": 2}, ("Send order", *named, *WORDS[:6])),
        Question("devtools", "take_snapshot", {"pageId": 2}, ("Send order", *named[:3])),
        Question("devtools", "list_network_requests", {"pageId": 2}, ("index.html",)),
    ]
