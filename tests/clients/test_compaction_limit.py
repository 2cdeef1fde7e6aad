"""When a client compacts its history by itself, by the name that it gives itself. Measured with the real clients,
but for claude-sonnet-5, whose figure stands in Claude Code's own code.
"""

from __future__ import annotations

import pytest

from laconic.clients.registry import compaction_limit, find_by_name

CLAUDE = "claude-cli/2.1.197 (external, cli)"
PRINTED = "claude-cli/2.1.197 (external, sdk-cli)"  # `claude -p`
LONG = "oauth-2025-04-20,context-1m-2025-08-07"


@pytest.mark.parametrize(
    ("client", "model", "window", "limit"),
    [
        ("codex_cli_rs/0.166.0", "gpt-5", 400_000, 244_800),
        ("codex_exec/0.166.0", "mine", 128_000, 115_200),
        (CLAUDE, "claude-sonnet-4-5-20250929", 200_000, 200_000),
        (PRINTED, "claude-sonnet-4-5", 200_000, 200_000),
        (CLAUDE, "claude-sonnet-4-6", 1_000_000, 167_000),
        (PRINTED, "claude-opus-4-6-20260205", 1_000_000, 167_000),
        (CLAUDE, "claude-sonnet-5", 1_000_000, 934_000),
        (CLAUDE, "claude-sonnet-5", 200_000, 167_000),
        ("opencode/1.18.33", "claude-sonnet-4-5", 200_000, 200_000),
        ("opencode/1.18.33", "claude-opus-4-5", 200_000, 168_000),
        ("GeminiCLI/0.61.0", "gemini-2.5-pro", 1_000_000, 500_000),
        ("python-httpx/0.28", "gpt-5", 200_000, 0),
        ("codex_cli_rs/0.166.0", "mine", 0, 0),
    ],
)
def test_limits_of_clients_are_known_by_their_names(client: str, model: str, window: int, limit: int) -> None:
    assert compaction_limit(client, model, window) == limit


def test_claude_code_uses_a_long_window_where_it_asks_for_one() -> None:
    assert compaction_limit(CLAUDE, "claude-sonnet-4-6", 1_000_000, LONG) == 1_000_000


@pytest.mark.parametrize(
    ("client", "late"), [(CLAUDE, False), ("codex_exec/0.166.0", False), ("GeminiCLI/0.61.0", True)]
)
def test_it_is_known_whether_a_client_goes_by_the_last_answer(client: str, late: bool) -> None:
    """Codex goes by that and by its own count of what came since; others by the provider's refusal."""
    known = find_by_name(client)
    assert known is not None
    assert known.compacts_late is late
