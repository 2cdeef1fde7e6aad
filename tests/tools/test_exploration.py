"""How something works: who does the work, from where it is reached, its rules, its data and its tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from laconic.config import Settings
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools

FILES = {
    "app/auth.py": '''class Credential:
    user: str
    password_hash: str


def authenticate(request, credentials):
    """Find the credential of a request and check its password."""
    found = credentials.get(request.user)
    if found is None:
        raise AuthenticationFailed("unknown user")
    if hash_of(request.password) != found.password_hash:
        raise AuthenticationFailed("wrong password for authentication")
    return found


def get_authentication_name():
    return "authentication"


def hash_of(password):
    return password[::-1]
''',
    "app/server.py": """from app.auth import authenticate


def handle(request):
    session = authenticate(request, request.store)
    return session


def main():
    return handle(None)
""",
    "app/cart.py": "def total(prices):\n    amount = 0\n    amount += sum(prices)\n    return amount\n",
    "tests/test_auth.py": "from app.auth import authenticate\n\n\ndef test_authenticate():\n    authenticate(None, {})\n",
}


@pytest.fixture
def runtime(tmp_path: Path, settings: Settings) -> Iterator[ToolRuntime]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    opened = ToolRuntime(tmp_path, settings, tools())
    opened.index.build()
    yield opened
    opened.close()


@pytest.mark.feature("U5")
def test_how_authentication_works_here(runtime: ToolRuntime) -> None:
    said = runtime.call("context", {"task": "how does authentication work here"}).text
    lines = said.split("\n")
    assert lines[0] == "authentication: 3 functions in 2 files do the work"
    assert lines[1] == "app/auth.py"
    assert lines[2].startswith("6-13 def authenticate(request, credentials)  # Find the credential")
    assert said.index("def authenticate") < said.index("def get_authentication_name"), "logic before plumbing"
    assert "reached by: main server.py:9 -> handle server.py:4 -> authenticate auth.py:6\n" in said
    assert 'rule app/auth.py:12 raise AuthenticationFailed("wrong password for authentication")\n' in said
    assert "tests: tests/test_auth.py\n" in said
    assert "cart.py" not in said


def test_a_deep_view_has_the_code_of_what_does_the_work(runtime: ToolRuntime) -> None:
    deep = runtime.call("context", {"task": "how does authentication work here", "show": "deep"}).text
    assert "    found = credentials.get(request.user)\n" in deep
    assert "reached by: main" in deep


def test_a_map_of_a_subject_is_its_overview(runtime: ToolRuntime) -> None:
    assert "def authenticate(request, credentials)" in runtime.call("map", {"path": "authentication"}).text
    assert "cart.pi" in runtime.call("map", {"path": "app/cart.pi"}).text, "a path that is not there is said so"


def test_a_change_is_no_question_of_how_something_works(runtime: ToolRuntime) -> None:
    said = runtime.call("context", {"task": "Authentication fails for users with an empty password"}).text
    assert said.startswith("app/auth.py\n")
    assert "reached by" not in said


def test_a_subject_that_the_code_says_nothing_of(runtime: ToolRuntime) -> None:
    assert (
        "nothing in this code base" in runtime.call("context", {"task": "how does quantum teleportation work"}).text
    )
