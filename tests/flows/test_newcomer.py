"""A newcomer's path, from the README alone: clone, install, set up, one real run, replay, the dashboard."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, Block, blocks
from tests.docs.stage import Shell
from tests.flows.scripts import model
from tests.flows.stage import UPSTREAM, installed
from tests.flows.test_pages import CLAUDE, STEPS
from tests.samples import git

from laconic.gateway.scripted_upstream import ScriptedUpstream

pytestmark = pytest.mark.flow

CHECKS = """
test "$(command -v laconic)" = "$HOME/.laconic/bin/laconic"
until TOKEN="$(cat "${LACONIC_STATE_DIR:-$HOME/.local/state/laconic}/token")"; do sleep 0.2; done
until curl --silent --output /dev/null http://127.0.0.1:8790/; do sleep 0.2; done
test "$(curl --silent --output /dev/null --write-out '%{http_code}' http://127.0.0.1:8790/api/overview.json)" = 401
curl --silent --fail --header "x-laconic-token: $TOKEN" http://127.0.0.1:8790/api/overview.json > "$HOME/overview.json"
"""


def test_the_readme_is_enough(tmp_path: Path) -> None:
    """`make demo` and `make test` stand in the README too; the build's script runs those."""
    home, programs = tmp_path / "home", installed("@anthropic-ai/claude-code")
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / "settings.json").write_text('{"enableAllProjectMcpServers": true}')
    git(tmp_path, "clone", "--quiet", str(ROOT), "laconic")
    readme = ROOT / "README.md"
    steps = [block for block in blocks(readme) if block.language == "sh" and "ci" not in block.words]
    said = asyncio.run(_follow(Shell(home, tmp_path / "laconic"), programs, [*steps, _checks(readme)]))
    assert "prompt tokens" in said
    assert '"sessions"' in (home / "overview.json").read_text()


def _checks(page: Path) -> Block:
    return Block(page, 0, "sh", frozenset(), CHECKS)


async def _follow(shell: Shell, programs: Path, steps: list[Block]) -> str:
    """With nothing of ours on the path but what the README installs."""
    async with ScriptedUpstream(lambda asked: model(STEPS, asked)) as upstream:
        known = {name: value.replace(UPSTREAM, upstream.url) for name, value in CLAUDE.items()}
        known["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
        for name in ("HTTPS_PROXY", "HTTP_PROXY"):  # pip needs its registry
            known[name] = os.environ.get(name, "")
        return await asyncio.to_thread(shell.follow, steps, known)
