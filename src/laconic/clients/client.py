"""All that is known about one client, in one record, which the client's file fills in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from laconic.clients.setup import ClientFolders, ClientSetup
from laconic.clients.wrapped_client import WrappedClient
from laconic.sessions.recorded.record import RecordedSession

FindRecorded = Callable[[ClientFolders, float], Iterator[RecordedSession]]  # those that went on since a moment
CompactionLimit = Callable[[str, int, str], int]  # model, its window, betas that the client asks for -> tokens
ReadRecorded = Callable[[Path], Iterator[RecordedSession]]  # those in a file; none where another program wrote it


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client; what it has no use for is left out."""

    name: str  # of its program
    title: str
    setup: ClientSetup | None = None  # how our tools are added to its configuration
    launcher: WrappedClient | None = None  # how `wrap` runs it
    session_headers: tuple[str, ...] = ()  # in which its requests name their session
    task_tools: tuple[str, ...] = ()  # by which its models keep their tasks
    shell_tools: tuple[str, ...] = ()  # by which its models run commands
    project_names: tuple[str, ...] = ()  # files and folders in a project that it obeys
    home_names: tuple[str, ...] = ()  # files and folders in the home folder with its logins and sessions
    mcp_names: tuple[str, ...] = ()  # by which it introduces itself to MCP servers
    searches_tools: Callable[[Mapping[str, str]], bool] | None = None  # whether it loads tools when they are needed
    user_agent: str = ""  # how the name begins that it gives itself in requests, in lower case
    compacts_at: CompactionLimit | None = None  # tokens of a prompt at which it compacts its history
    compacts_late: bool = False  # it goes by the last answer: the first prompt above that is still sent whole
    keeps_turns: int = 0  # of the newest turns, how many it then keeps as they are
    keeps_tokens: int = 1_000  # beside them and its tools: a short summary, instructions within its messages
    summarises: float = 0.0  # share of its history that its request for a summary carries; 0: not known
    recorded: FindRecorded | None = None  # how the sessions are found that it records
    read_recorded: ReadRecorded | None = None  # how a file of them is read that somebody names
