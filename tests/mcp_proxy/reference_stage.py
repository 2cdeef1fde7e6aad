"""The reference server over HTTP, directly and behind `laconic mcp --around`, as processes."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from laconic.config import child_environment

SERVER = Path(__file__).with_name("reference_server.py")
ENTRY = {"command": sys.executable, "args": ["-W", "ignore", str(SERVER)]}  # on standard input


@contextmanager
def direct() -> Iterator[str]:
    """The server itself; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    words = [sys.executable, "-W", "ignore", str(SERVER), str(port)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


def around_words(folder: Path, entry: Mapping[str, object]) -> list[str]:
    """The command that serves what stands behind this entry."""
    file = folder / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"reference": entry}}))
    return ["-m", "laconic", "mcp", "--around", str(file)]


def variables(folder: Path) -> dict[str, str]:
    return {"LACONIC_CACHE_DIR": str(folder / "cache"), "LACONIC_AROUND_SCHEMAS": "full"}


@contextmanager
def around(folder: Path, entry: Mapping[str, object]) -> Iterator[str]:
    """The server behind us, over HTTP; our address."""
    words = [sys.executable, *around_words(folder, entry), "--http", "127.0.0.1:0", "--no-token"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=child_environment(variables(folder))) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().decode().split()[-1]
        finally:
            process.kill()
