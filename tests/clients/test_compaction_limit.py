"""When a client compacts its history by itself, by the name that it gives itself."""

from __future__ import annotations

import pytest

from laconic.clients.registry import compaction_limit, compacts_late


@pytest.mark.parametrize(
    ("client", "window", "limit"),
    [
        ("codex_cli_rs/0.166.0", 400_000, 244_800),
        ("codex_exec/0.166.0", 128_000, 115_200),
        ("claude-cli/2.1.197 (external, cli)", 200_000, 166_666),
        ("claude-cli/2.1.197 (external, sdk-cli)", 200_000, 200_000),
        ("opencode/1.18.33", 200_000, 168_000),
        ("GeminiCLI/0.61.0", 1_000_000, 500_000),
        ("python-httpx/0.28", 200_000, 0),
        ("codex_cli_rs/0.166.0", 0, 0),
    ],
)
def test_limits_of_clients_are_known_by_their_names(client: str, window: int, limit: int) -> None:
    assert compaction_limit(client, window) == limit


def test_clients_that_go_by_the_last_answer_are_known() -> None:
    assert compacts_late("codex_exec/0.166.0")
    assert compacts_late("opencode/1.18.33")
    assert not compacts_late("claude-cli/2.1.197 (external, cli)")
    assert not compacts_late("python-httpx/0.28")
