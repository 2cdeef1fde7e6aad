"""Questions to several code bases: by name, all at once, and from one into another through what it imports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from laconic.config import Settings, load
from laconic.index.workspace_index import Index
from laconic.tool_runtime import several_workspaces
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.workspaces import name_workspaces
from laconic.tools import tools

_LIBRARY = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "src/shop/__init__.py": "from shop.cart import Cart, total_of\n",
    "src/shop/cart.py": (
        "class Cart:\n    def add_item(self, item):\n        return item\n\n\ndef total_of(cart):\n    return 0\n"
    ),
    "tests/test_cart.py": "from shop import total_of\n\n\ndef test_total():\n    assert total_of(None) == 0\n",
}
_APP = {
    "pyproject.toml": '[project]\nname = "site"\ndependencies = ["shop"]\n',
    "site_app/__init__.py": "",
    "site_app/checkout.py": (
        "from shop import Cart, total_of\n\n\ndef pay_bill(items):\n    cart = Cart()\n    for item in items:\n"
        "        cart.add_item(item)\n    return total_of(cart)\n"
    ),
    "site_app/pages.py": "from site_app.checkout import pay_bill\n\n\ndef show_page():\n    return pay_bill([])\n",
}
_STRANGER = {
    "ledger.py": "def total_of(rows):\n    return sum(rows)\n\n\ndef report():\n    return total_of([1])\n",
}
_WEB = {
    "package.json": '{"name": "@acme/ui"}',
    "src/index.ts": 'export { drawButton } from "./button";\n',
    "src/button.ts": "export function drawButton(label: string): string {\n  return label;\n}\n",
}
_WEB_USER = {
    "package.json": '{"name": "portal", "dependencies": {"@acme/ui": "1"}}',
    "src/page.ts": (
        'import { drawButton } from "@acme/ui";\n\nexport function page(): string {\n  return drawButton("x");\n}\n'
    ),
}
_GO = {
    "go.mod": "module example.com/kit\n\ngo 1.21\n",
    "kit.go": "package kit\n\nfunc RunKit() int { return 1 }\n",
}
_GO_USER = {
    "go.mod": "module example.com/tool\n\ngo 1.21\n\nrequire example.com/kit v1.0.0\n",
    "main.go": 'package main\n\nimport "example.com/kit"\n\nfunc main() { kit.RunKit() }\n',
}
_ALL = {
    "shop": _LIBRARY,
    "site": _APP,
    "stranger": _STRANGER,
    "ui": _WEB,
    "portal": _WEB_USER,
    "kit": _GO,
    "tool": _GO_USER,
}

Ask = Callable[..., str]


@pytest.fixture
def ask(tmp_path: Path, settings: Settings) -> Iterator[Ask]:
    """Call a tool of a session that works in `site`."""
    for name, files in _ALL.items():
        for path, text in files.items():
            place = tmp_path / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        index = Index.open(tmp_path / name, settings.cache_dir())
        index.build()
        index.close()
    runtime = ToolRuntime(tmp_path / "site", settings, tools())

    def call(tool: str, **given: object) -> str:
        return runtime.call(tool, given).text

    yield call
    runtime.close()


def test_search_finds_definitions_in_all_workspaces(ask: Ask) -> None:
    text = ask("search", query="total_of", workspace="all")
    assert "@shop/src/shop/cart.py" in text
    assert "@stranger/ledger.py" in text
    assert "\nsite_app/checkout.py" in text, "paths of the asking workspace are as ever"


def test_of_equal_names_that_of_the_asking_workspace_comes_first(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "site" / "site_app" / "sums.py").write_text("def total_of(prices):\n    return 2\n")
    text = ask("search", query="total_of", workspace="all")
    assert text.startswith("site_app/sums.py\n")


def test_what_many_workspaces_define_is_glanced_at_when_the_time_is_up(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several_workspaces, "SECONDS", -1.0)
    text = ask("search", query="total_of", workspace="all")
    assert "@shop/src/shop/cart.py" in text
    assert "@stranger/ledger.py" in text


def test_what_was_not_asked_is_said(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several_workspaces, "SECONDS", -1.0)
    text = ask("search", query="/return \\w+/", workspace="all")
    assert "workspaces asked" in text
    assert "left out" in text


def test_one_workspace_answers_alone(ask: Ask) -> None:
    text = ask("search", query="total_of", workspace="stranger")
    assert "@stranger/ledger.py" in text
    assert "shop" not in text


def test_without_a_name_only_the_own_workspace_answers(ask: Ask) -> None:
    text = ask("search", query="total_of")
    assert "@shop" not in text
    assert "ledger" not in text


def test_uses_lead_through_imports_into_other_workspaces(ask: Ask) -> None:
    text = ask("inspect", symbol="shop.cart.total_of", workspace="all")
    assert "@shop/src/shop/cart.py" in text.split("\n", 1)[0]
    assert "site_app/checkout.py 1; 8 pay_bill" in text
    assert "@shop/tests/test_cart.py" in text
    assert "ledger.py 5" not in text, "a function of the same name that nobody imports from there is another one"


def test_an_unrelated_symbol_of_the_same_name_is_told(ask: Ask) -> None:
    text = ask("inspect", symbol="total_of", workspace="all")
    assert "also: " in text
    assert "@stranger/ledger.py" in text
    assert "@shop/src/shop/cart.py" in text


def test_methods_are_followed_into_other_workspaces(ask: Ask) -> None:
    text = ask("inspect", symbol="Cart.add_item", only="refs", workspace="all")
    assert "site_app/checkout.py 7 pay_bill" in text
    assert "?" not in text, "the type of the receiver is known"


@pytest.mark.parametrize(
    ("symbol", "user"), [("drawButton", "@portal/src/page.ts"), ("RunKit", "@tool/main.go")], ids=["npm", "go"]
)
def test_packages_of_other_languages_are_found_by_their_manifests(ask: Ask, symbol: str, user: str) -> None:
    assert user in ask("inspect", symbol=symbol, only="refs", workspace="all")
    assert user in ask("search", query=symbol, workspace="all", **{"in": "refs"})


def test_calls_are_traced_from_one_workspace_into_another(ask: Ask) -> None:
    text = ask("trace", symbol="shop.cart.total_of", workspace="all")
    assert "1 pay_bill site_app/checkout.py:4" in text
    assert "2 show_page site_app/pages.py:4 via pay_bill" in text
    text = ask("trace", symbol="show_page", to="Cart.add_item", workspace="site,shop")
    assert "show_page site_app/pages.py:4 -> pay_bill site_app/checkout.py:4 -> Cart.add_item @shop/" in text


def test_a_path_of_another_workspace_can_be_read(ask: Ask) -> None:
    text = ask("read", targets=["@shop/src/shop/cart.py:6-7", "site_app/pages.py"])
    assert "[@shop/src/shop/cart.py#" in text
    assert "def total_of(cart):" in text
    assert "def show_page" in text


def test_context_takes_code_from_the_workspace_that_fits(ask: Ask) -> None:
    text = ask("context", task="total_of in the ledger should sum the rows of a report", workspace="all")
    assert text.startswith("@stranger/ledger.py")


def test_other_workspaces_are_read_as_they_are_now(ask: Ask, tmp_path: Path) -> None:
    ask("search", query="total_of", workspace="all")
    (tmp_path / "stranger" / "ledger.py").write_text("\n\n\ndef total_of(rows):\n    return 1\n")
    text = ask("search", query="total_of", workspace="all", again=True)
    assert "4 function def total_of(rows)" in text or "4-5" in text, text


def test_a_name_that_no_workspace_has_is_answered_with_the_nearest(ask: Ask) -> None:
    text = ask("search", query="total_of", workspace="strangr")
    assert "No indexed workspace named 'strangr'" in text
    assert "stranger" in text


def test_tools_for_one_workspace_say_so(ask: Ask) -> None:
    assert "one workspace at a time" in ask("map", workspace="all")
    assert "ledger.py" in ask("map", workspace="stranger")


def test_other_workspaces_can_be_turned_off(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.py").write_text("def one(): ...\n")
    settings = load(flags={"cache_dir": str(tmp_path / "cache"), "index.others": False}, environ={})
    runtime = ToolRuntime(tmp_path / "own", settings, tools())
    try:
        assert "turned off" in runtime.call("search", {"query": "one", "workspace": "all"}).text
    finally:
        runtime.close()


def test_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    roots = [tmp_path / "a" / "api", tmp_path / "b" / "api", tmp_path / "b" / "my web"]
    assert list(name_workspaces(roots)) == ["a.api", "b.api", "my-web"]
