"""A PostgreSQL server of our own on loopback, in a temporary folder, for tests and benchmarks; ended with them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Final

_FOLDERS: Final = ("/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt")
_USER: Final = "postgres"  # the server refuses to run as root
_START: Final = 60.0  # seconds


class NoPostgres(Exception):
    """PostgreSQL is not installed here, or nobody may run it."""


def find_postgres() -> Path:
    """The folder with `initdb` and `postgres`."""
    for folder in _FOLDERS:
        for path in sorted(Path(folder).glob("*/bin/initdb"), reverse=True):
            return path.parent
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    raise NoPostgres("PostgreSQL is not installed: `apt-get install postgresql`.")


def free_port() -> int:
    """A port of loopback that nobody uses at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class PostgresServer:
    """One server. Without `safe` it does not wait for the disk, which tests do not need."""

    def __init__(self, *, safe: bool = False, connections: int = 200) -> None:
        self._programs = find_postgres()
        self._folder = Path(tempfile.mkdtemp(prefix="laconic-postgres-"))
        self._safe = safe
        self._connections = connections
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self.port = free_port()

    def __enter__(self) -> PostgresServer:
        try:
            self._initialise()
            self.start()
        except BaseException:
            self.stop()
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{_USER}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The address of an empty one."""
        self._databases += 1
        name = f"laconic_{os.getpid()}_{self._databases}"
        self._run("psql", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-U", _USER, "-c", f"CREATE DATABASE {name}")
        return self.url(name)

    def start(self) -> None:
        """Start it, again if need be, and wait until it answers."""
        words = [str(self._programs / "postgres"), "-D", str(self._folder / "data"), "-p", str(self.port)]
        words += ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self._folder}"]
        words += ["-c", f"max_connections={self._connections}", "-c", "logging_collector=off"]
        if not self._safe:
            words += ["-c", "fsync=off", "-c", "full_page_writes=off"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen([*_as_user(), *words], stdout=log, stderr=log, start_new_session=True)
        until = time.monotonic() + _START
        while time.monotonic() < until:
            if self._process.poll() is not None:
                break
            if self._answers():
                return
            time.sleep(0.05)
        raise NoPostgres((self._folder / "log").read_text("utf-8", "replace")[-500:])

    def stop(self) -> None:
        """End it at once: open connections break, what was committed stays."""
        if self._process is None:
            return
        if self._process.poll() is not None:
            self._process = None
            return
        control = [*_as_user(), str(self._programs / "pg_ctl"), "stop", "-m", "immediate"]
        subprocess.run([*control, "-D", str(self._folder / "data")], capture_output=True, check=False)
        self._process.wait(30)
        self._process = None

    def _answers(self) -> bool:
        words = [str(self._programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    def _initialise(self) -> None:
        if os.getuid() == 0:
            shutil.chown(self._folder, _USER)
        words = ["-D", str(self._folder / "data"), "-U", _USER, "-A", "trust", "-E", "UTF8", "--no-sync"]
        self._run("initdb", *words)

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [*_as_user(), str(self._programs / program), *words], capture_output=True, cwd="/", check=False
        )
        if done.returncode:
            raise NoPostgres(done.stderr.decode("utf-8", "replace")[-500:])


def _as_user() -> list[str]:
    """Words that run the rest as a user who may run the server."""
    if os.getuid() != 0:
        return []
    runner = shutil.which("runuser")
    if runner is None:
        raise NoPostgres("PostgreSQL does not run as root, and there is no `runuser`.")
    return [runner, "-u", _USER, "--"]
