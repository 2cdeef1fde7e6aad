"""Ten real servers from npm and PyPI that run offline, and the material that they serve."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from laconic.config import child_environment
from laconic.workspace.process import run

NPM: Final = {
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
    "@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
    "@playwright/mcp": "0.0.83",
    "chrome-devtools-mcp": "1.11.0",
    "@modelcontextprotocol/conformance": "0.1.16",
}
PYPI: Final = {
    "python": ("mcp-server-git==2026.10.19", "mcp-server-fetch==2026.10.24", "mcp-server-time==2026.10.19"),
    "old-python": ("mcp-server-sqlite==2025.4.25", "mcp<2"),  # written for the first SDK
}
WORDS: Final = (
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "haven",
    "inlet",
    "juniper",
    "kelp",
    "lotus",
)


def install(folder: Path, npm: Mapping[str, str], pypi: Mapping[str, Sequence[str]]) -> Path:
    """Install servers once, outside the repository; `pypi` names an environment for each group of packages."""
    done = folder / "installed"
    if done.exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')
    wanted = [f"{name}@{version}" for name, version in npm.items()]
    steps = [["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", *wanted]]
    for name, packages in pypi.items():
        steps.append([sys.executable, "-m", "venv", str(folder / name)])
        steps.append([str(folder / name / "bin" / "pip"), "install", "-q", *packages])
    for words in steps:
        finished = run(words, folder, seconds=900)
        if finished.code:
            raise FileNotFoundError(2, finished.complaints.decode()[-400:], words[0])
    done.write_text("")
    return folder


def entries(installed: Path, world: Path) -> dict[str, dict[str, Any]]:
    """The ten servers as a client's configuration names them."""
    bin_, python = installed / "node_modules" / ".bin", installed / "python" / "bin"
    chromium = shutil.which("chromium") or "chromium"  # tests/test_contract.py holds only our package to one way
    memory = {"MEMORY_FILE_PATH": str(world / "memory.jsonl")}
    browser = ["--headless", "--isolated", "--no-sandbox", "--executable-path", chromium]
    devtools = ["--headless", "--isolated", "--executablePath", chromium, "--chromeArg=--no-sandbox"]
    sqlite = installed / "old-python" / "bin" / "mcp-server-sqlite"
    found: dict[str, dict[str, Any]] = {
        "filesystem": {"command": str(bin_ / "mcp-server-filesystem"), "args": [str(world / "files")]},
        "git": {"command": str(python / "mcp-server-git"), "args": ["--repository", str(world / "repo")]},
        "everything": {"command": str(bin_ / "mcp-server-everything"), "args": []},
        "sqlite": {"command": str(sqlite), "args": ["--db-path", str(world / "shop.db")]},
        "memory": {"command": str(bin_ / "mcp-server-memory"), "args": [], "env": memory},
        "fetch": {
            "command": str(python / "mcp-server-fetch"),
            "args": ["--ignore-robots-txt", "--allow-private-ips"],
        },
        "time": {"command": str(python / "mcp-server-time"), "args": []},
        "thinking": {"command": str(bin_ / "mcp-server-sequential-thinking"), "args": []},
        "playwright": {"command": str(bin_ / "playwright-mcp"), "args": browser},
        "devtools": {"command": str(bin_ / "chrome-devtools-mcp"), "args": devtools},
    }
    for entry in found.values():
        entry["cwd"] = str(world)  # some write files where they are started
    return found


def make_world(world: Path) -> None:
    """The same folder, repository, database, graph and pages every time."""
    draw = random.Random(20)
    files = world / "files"
    (files / "logs").mkdir(parents=True)
    (files / "site").mkdir()
    for number in range(120):
        (files / f"note_{number:03d}.txt").write_text(f"note {number} about {draw.choice(WORDS)}\n" * 3)
    rows = []
    for number in range(1, 401):
        rows.append(
            (number, f"{draw.choice(WORDS)}-{number}", draw.randrange(100, 9_999), draw.choice(("open", "closed")))
        )
    records = [dict(zip(("id", "name", "price", "state"), row, strict=True)) for row in rows]
    (files / "orders.json").write_text(json.dumps({"total": len(records), "orders": records}, indent=2))
    lines = []
    for number in range(3_000):
        lines.append(
            f"2026-03-01T10:{number // 60 % 60:02d}:{number % 60:02d}Z INFO worker-{number % 7}"
            f" handled request {number * 13}"
        )
    for place, what in (
        (400, "disk full on /dev/sda7"),
        (1_700, "timeout after 30s calling billing"),
        (2_600, "lost 3 of 9 shards"),
    ):
        lines[place] = f"2026-03-01T11:00:00Z ERROR {what}"
    (files / "logs" / "server.log").write_text("\n".join(lines))
    (files / "site" / "index.html").write_text(_page(rows))
    base = sqlite3.connect(world / "shop.db")
    base.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT, price INTEGER, state TEXT)")
    base.executemany("INSERT INTO orders VALUES (?,?,?,?)", rows)
    base.commit()
    base.close()
    graph = []
    for number in range(80):
        name = f"{WORDS[number % 12]}_{number}"
        graph.append(
            {
                "type": "entity",
                "name": name,
                "entityType": "service",
                "observations": [f"runs on port {8000 + number}"],
            }
        )
    (world / "memory.jsonl").write_text("\n".join(map(json.dumps, graph)))
    _make_repository(world / "repo")


def _page(rows: list[tuple[int, str, int, str]]) -> str:
    cells = []
    for number, name, price, state in rows[:120]:
        cells.append(
            f'<tr><td>{number}</td><td><a href="/item/{number}">{name}</a></td><td>{price}</td><td>{state}</td></tr>'
        )
    menu = "".join(f'<li><a href="/menu/{word}">{word}</a></li>' for word in WORDS)
    about = "<p>" + "Orders are shipped on weekdays. " * 40 + "</p>"
    script = "this.textContent='Sent 1 order'"
    head = "<tr><th>id</th><th>name</th><th>price</th><th>state</th></tr>"
    return (
        "<html><head><title>Order desk</title><style>td{color:red}</style><script>var x=1;</script></head><body>"
        f"<nav><ul>{menu}</ul></nav><h1>Order desk</h1>"
        f'<button id="b" onclick="{script}">Send order</button>'
        f"{about}<h2>Open orders</h2><table>{head}{''.join(cells)}</table></body></html>"
    )


def _make_repository(folder: Path) -> None:
    folder.mkdir()
    when = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    variables = child_environment({**when, "GIT_CONFIG_GLOBAL": "/dev/null"})
    git = ["git", "-c", "user.name=Ann Author", "-c", "user.email=ann@example.org"]

    def call(*words: str) -> None:
        subprocess.run([*git, *words], cwd=folder, env=variables, check=True, capture_output=True)

    call("init", "-q", "-b", "main")
    for number in range(40):
        (folder / f"{WORDS[number % 12]}.py").write_text(
            "".join(f"def f{i}():\n    return {i * number}\n" for i in range(30))
        )
        call("add", "-A")
        call("commit", "-q", "-m", f"Change {WORDS[number % 12]} for release {number}")
    call("branch", "feature/search")
    (folder / "amber.py").write_text("def changed():\n    return 'new'\n")
