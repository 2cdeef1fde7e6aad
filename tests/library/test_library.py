"""`from laconic import ...`: typed methods that answer as the tools do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.conversation.sessions import long_session
from tests.samples import shop

import laconic
from laconic import Conversation, LaconicError, Workspace, count_tokens, shorten

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def code(tmp_path: Path) -> Workspace:
    return Workspace(shop(tmp_path), settings={"cache_dir": str(tmp_path / "cache")})


def test_importing_it_loads_nothing_else() -> None:
    script = "import laconic, sys; print([name for name in sys.modules if name.startswith('laconic.')])"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_all_public_names_are_there_and_no_others() -> None:
    assert sorted(laconic.__all__) == sorted(name for name in dir(laconic) if name != "__version__")
    for name in laconic.__all__:
        assert getattr(laconic, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = laconic.nothing  # type: ignore[attr-defined]


def test_a_workspace_answers_with_text_and_records(code: Workspace) -> None:
    with code:
        found = code.search("checkout", budget=300)
        assert found.tokens <= 300
        assert any(record["path"] == "shop/cart.py" for record in found.records)
        assert "checkout" in str(found)
        assert "def total" in code.read("shop/money.py:13-16").text
        assert "def add(self" in code.inspect("Cart.add").text
        assert code.context("the price of a cart is wrong", budget="compact").records
        assert "shop" in code.map().text
        assert "cart" in code.trace("Cart.add").text.lower()


def test_asking_again_gives_the_same_answer(code: Workspace) -> None:
    with code:
        assert code.search("checkout") == code.search("checkout")


def test_a_workspace_sees_what_changes(code: Workspace) -> None:
    with code:
        assert "shop/new.py" not in code.search("brand_new_name").text
        (code.root / "shop" / "new.py").write_text("def brand_new_name():\n    return 1\n")
        assert code.search("brand_new_name").records[0]["path"] == "shop/new.py"


def test_failures_are_errors_that_carry_the_fix(code: Workspace, tmp_path: Path) -> None:
    with code, pytest.raises(LaconicError, match=r"nowhere\.py"):
        code.read("nowhere.py")
    with pytest.raises(LaconicError, match="Name the folder"):
        Workspace(tmp_path / "nowhere")


def test_texts_become_shorter_within_a_budget() -> None:
    text = "\n".join(f"2026-01-01 12:00:{n % 60:02} INFO request {n} done" for n in range(500)) + "\nERROR disk full"
    short = shorten(text, 120)
    assert short.tokens <= 140
    assert "disk full" in short.text
    assert short.tokens_before == count_tokens(text)
    assert count_tokens("hello world") == 2


@pytest.mark.parametrize("clock", [0.0, 1e9])
def test_a_conversation_is_prepared_and_what_it_leaves_out_comes_back(clock: float) -> None:
    conversation = Conversation("anthropic", model="claude-sonnet-4-5", window=30_000, clock=lambda: clock)
    prepared = conversation.prepare({"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": long_session(60)})
    assert prepared.tokens < 30_000
    assert prepared.saved > 0
    text = str(prepared.request["messages"])
    reference = text.split("laconic recall ")[1].split("]", maxsplit=1)[0].split(maxsplit=1)[0].strip(";,'\"")
    assert conversation.recall(reference)
    with pytest.raises(LaconicError, match="Nothing was left out"):
        conversation.recall("zzzz")


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("ask_a_code_base.py", ["{shop}", "checkout"], "hits in"),
        ("shorten_output.py", ["60", sys.executable, "-c", "print('error: x' * 9)"], "error: x"),
        ("small_agent.py", [], "prompt tokens instead of about"),
    ],
)
def test_the_examples_run(tmp_path: Path, name: str, words: list[str], said: str) -> None:
    given = [word.replace("{shop}", str(shop(tmp_path))) if "{shop}" in word else word for word in words]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LACONIC_CACHE_DIR": str(tmp_path / "cache")}
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *given], capture_output=True, text=True, env=environment, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert said in ran.stdout


@pytest.mark.parametrize("name", ["ask_a_code_base.py", "shorten_output.py"])
def test_an_example_without_its_arguments_says_how_it_is_run(name: str) -> None:
    ran = subprocess.run([sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert f"python examples/{name}" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_every_example_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {
        "ask_a_code_base.py",
        "shorten_output.py",
        "small_agent.py",
    }
