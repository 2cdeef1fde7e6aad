"""What the documents say is true: blocks run, links lead somewhere, figures come with their command."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, Block, anchors, blocks, claims, links, pages
from tests.docs.stage import Shell

from laconic.conversation.engine import PreparedRequest
from laconic.exchange.plan import describe_request

PAGES = pages()
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
LANGUAGES = {"sh", "python", "json", "toml", "text", "mermaid"}
DECISIONS = ROOT / "docs" / "decisions"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name} points to {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name} points to {target}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_block_says_what_it_is(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block}: {block.language!r} is none of {sorted(LANGUAGES)}"
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent != DECISIONS and page.name != "CHANGELOG.md"])
def test_every_figure_comes_with_its_command(page: Path) -> None:
    for line, heading, text in claims(page):
        assert "laconic bench" in text or "make " in text, f"{page.name}:{line}: {heading} states a figure"


def test_every_header_of_the_gateway_is_explained() -> None:
    prepared = PreparedRequest(b"{}", tokens=9, saved=1, mode="window", rung="age", thinking=1)
    page = (ROOT / "docs" / "gateway.md").read_text()
    for name in ("session", "tools", "token", *describe_request(prepared, changed=True)):
        assert f"| `x-laconic-{name}` |" in page


def _runnable(page: Path) -> list[Block]:
    return [
        block for block in blocks(page) if block.language in {"sh", "python"} and not block.words & {"flow", "ci"}
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if _runnable(page)], ids=lambda page: page.stem)
def test_every_block_runs(page: Path, shell: Shell) -> None:
    """A page is run from top to bottom in a copy of this repository, by a user who has nothing set up."""
    shell.follow(_runnable(page))


def test_what_is_left_to_the_build_is_done_by_it() -> None:
    """Blocks that create the environment cannot run inside it: the build's script runs them."""
    build = (ROOT / ".ci" / "run").read_text("utf-8")
    for page in PAGES:
        for block in blocks(page):
            if "ci" in block.words:
                for command in block.text.splitlines():
                    assert command.split("#")[0].strip() in build, f"{block}: {command}"
