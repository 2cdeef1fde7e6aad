"""A provider, a client and a model are one file or row each: added to a copy of the package, all three work together."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agent.provider import Provider

import laconic
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer

_PROVIDER = '''
"""Twig: turns that say something, and a bill in its own words."""

import re
from dataclasses import replace

import msgspec

from laconic.wire.content import JsonObject, text_part
from laconic.wire.turns_and_blocks import MessageShape
from laconic.wire.cache_rules import CacheRules
from laconic.wire.provider_format import ProviderAddress, RateLimitRules, Refusals, ThinkingField
from laconic.wire.providers.openai_chat import FORMAT as CHAT
from laconic.wire.usage import Usage, UsageFields, first_of


def shape(raw):
    turn = JsonObject(raw)
    role = "assistant" if turn.text("who") == "twig" else "user"
    return MessageShape(role, (text_part(raw, role, turn.fields["say"], turn.fields["say"]),), (), turn.text("who"))


def compose(role, text):
    return msgspec.json.encode({"who": "twig" if role == "assistant" else "me", "say": text})


def record(counters, hour):
    if "heard" not in counters:
        return None
    return Usage(input=first_of(counters, "heard"), output=first_of(counters, "said"))


def write(usage):
    return {"heard": usage.prompt, "said": usage.output}


FORMAT = replace(
    CHAT,
    name="twig",
    provider="twig",
    messages=("turns",),
    pinned=(),
    shape=shape,
    compose=compose,
    usage=UsageFields(report="spent", details={}, output=("said",), record=record, write=write),
    refusals=Refusals(
        write=lambda status, message: msgspec.json.encode({"twig": message}),
        too_long=(re.compile(r"a twig holds (?P<most>\\d+) of your (?P<sent>\\d+) leaves"),),
    ),
    cache=CacheRules(smallest=512, read=0.5, lifetime=120.0),
    rate_limits=RateLimitRules(
        headers={"tokens": ("twig-leaves",), "tokens_left": ("twig-leaves-left",)},
        counts_cached=lambda model: False,
        per_minute=(re.compile(r"no more than (?P<limit>\\d+) leaves a minute"),),
    ),
    thinking=(ThinkingField(("ponder",), words={"a bit": 2_000, "a lot": 40_000}, least=500),),
    address=ProviderAddress(path=re.compile("/talk")),
    append_text=None,
    dialect=None,
    written_calls=None,
    hidden_calls=None,
)
'''
_CLIENT = '''
"""Twigger: one base URL, in a variable of its own."""

from laconic.clients.client import Client
from laconic.clients.setup import ClientSetup, plain_entry, read_words
from laconic.clients.wrapped_client import Launch, WrappedClient, upstream
from laconic.sessions.recorded.record import RecordedSession, read_sessions
from laconic.sessions.transcripts import transcript_of


def read_session(path):
    transcript = transcript_of(path.stem, [{"role": "user", "content": path.read_text()}])
    return RecordedSession(path.stem, path.read_text(), "", "twig-large", 1.0, (), transcript)


class Twigger(WrappedClient):
    silence = "it asked no model"
    one_shot = ("--once",)

    def find_upstreams(self, seen, defaults):
        return (upstream("twig", seen.variable("TWIG_URL"), "TWIG_URL"),)

    def launch(self, seen, upstreams, gateway, code_plane):
        return Launch(("twigger", *seen.args), {"TWIG_URL": upstreams[0].through(gateway)} if gateway else {})


CLIENT = Client(
    name="twigger",
    title="Twigger",
    setup=ClientSetup(
        name="twigger",
        title="Twigger",
        table=("servers",),
        project=lambda places: places.root / "twigger.json",
        user=lambda places: places.home / "twigger.json",
        entry=plain_entry,
        command=read_words,
        notes="TWIGS.md",
        programs=("twigger",),
        folder=lambda places: places.home / ".twigger",
    ),
    launcher=Twigger(),
    session_headers=("x-twig-session",),
    task_tools=("twig_tasks",),
    shell_tools=("grow",),
    project_names=(".twigs",),
    user_agent="twigger",
    compacts_at=lambda model, window, betas: window - 7_000,
    recorded=lambda places, since: read_sessions(places.home / ".twigger", ("*.twig",), since, read_session),
)
'''
_ROW = """    ModelFamily(
        starts="twig",
        tokenizer=Tokenizer("cl100k_base"),
        unpriced=UNKNOWN,
        models=(Model(("twig-large",), _openai(7, 70, 0.7), 77_000),),
    ),
"""
_PROGRAM = """#!{python}
import json, os, sys, urllib.request

headers = {{"content-type": "application/json", "x-twig-session": "leaf", "user-agent": "twigger/1.0"}}
turns, ponder = [], {{"ponder": word for word in sys.argv[2:]}}
for _ in range(int(sys.argv[1])):
    turns.append({{"who": "me", "say": "hi"}})
    body = json.dumps({{"model": "twig-large", **ponder, "turns": turns}}).encode()
    request = urllib.request.Request(os.environ["TWIG_URL"] + "/talk", body, headers)
    turns.append({{"who": "twig", "say": json.load(urllib.request.urlopen(request))["say"]}})
    print(turns[-1]["say"])
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of Laconic with one file, one file and one row more."""
    folder = tmp_path_factory.mktemp("package")
    source = Path(laconic.__file__).parent
    shutil.copytree(source, folder / "laconic", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "laconic" / "wire" / "providers" / "twig.py").write_text(_PROVIDER)
    (folder / "laconic" / "clients" / "twigger.py").write_text(_CLIENT)
    table = folder / "laconic" / "models" / "prices_and_windows.py"
    start = "FAMILIES: Final[tuple[ModelFamily, ...]] = (\n"
    text = table.read_text()
    assert text.count(start) == 1
    table.write_text(text.replace(start, start + _ROW))
    program = folder / "bin" / "twigger"
    program.parent.mkdir()
    program.write_text(_PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    return folder


def _run(package: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{package / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(package),
        "PYTHONPATH": str(package),
        "LACONIC_CACHE_DIR": str(package / "cache"),
        "LACONIC_STATE_DIR": str(package / "state"),
        **variables,
    }
    work = package / "work"
    work.mkdir(exist_ok=True)
    command = [sys.executable, "-P", *words]
    return subprocess.run(
        command, env=environment, cwd=work, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_request_of_the_new_client_in_the_new_format_is_billed_as_the_new_model(package: Path) -> None:
    def answer(asked: ReceivedRequest) -> ScriptedAnswer:
        assert asked.path == "/talk"
        return ScriptedAnswer((json.dumps({"say": "hello", "spent": {"heard": 100_000, "said": 10_000}}).encode(),))

    with Provider(answer) as provider:
        done = _run(package, "-m", "laconic", "wrap", "twigger", "1", TWIG_URL=provider.url)
        sent = [json.loads(asked.body) for asked in provider.asked]
    assert done.returncode == 0, done.stderr
    assert done.stdout == "hello\n"
    assert sent == [{"model": "twig-large", "turns": [{"who": "me", "say": "hi"}]}]
    assert "100,000 prompt tokens, 10,000 output tokens; $1.40, $0.70 of it for output" in done.stderr


def test_the_price_and_the_window_are_those_of_the_row(package: Path) -> None:
    code = (
        "from laconic.models.find_model import find_model, window_of\n"
        "from laconic.models.price_lookup import Prices\n"
        "price = Prices().of('twig-large-2026-11-16', 'https://twig.example.com')\n"
        "print(price.dollars, price.output_dollars(1e6, 0), window_of('twig-large'),"
        " find_model('twig-large').tokenizer.encoding)\n"
    )
    done = _run(package, "-c", code)
    assert done.stdout.split() == ["7", "70.0", "77000", "cl100k_base"], done.stderr


def test_the_new_client_is_set_up(package: Path) -> None:
    done = _run(package, "-m", "laconic", "setup", "twigger")
    assert done.returncode == 0, done.stderr
    written = json.loads((package / "work" / "twigger.json").read_text())
    assert written["servers"]["laconic"]["args"][-1] == "mcp"
    assert (package / "work" / "TWIGS.md").is_file()


def test_its_tasks_and_its_session_are_known(package: Path) -> None:
    code = (
        "from laconic.clients.registry import session_headers, task_tools\n"
        "print('x-twig-session' in session_headers(), 'twig_tasks' in task_tools())\n"
    )
    assert _run(package, "-c", code).stdout.split() == ["True", "True"]


def test_its_sessions_are_found_and_its_shell_and_its_files_are_known(package: Path) -> None:
    (package / ".twigger").mkdir(exist_ok=True)
    (package / ".twigger" / "one.twig").write_text("Grow a leaf")
    code = (
        "import os, pathlib\n"
        "from laconic.clients.recorded_sessions import find_recorded\n"
        "from laconic.clients.registry import project_names, shell_tools\n"
        "from laconic.clients.setup import ClientFolders\n"
        "here = pathlib.Path('.')\n"
        "for one in find_recorded(ClientFolders(here, os.environ), here, 0.0): print(one.client, one.title, sep='/')\n"
        "print('grow' in shell_tools(), '.twigs' in project_names())\n"
    )
    done = _run(package, "-c", code)
    assert done.stdout.splitlines() == ["Twigger/Grow a leaf", "True True"], done.stderr


def test_while_the_quota_of_the_new_provider_runs_low_its_models_think_less(package: Path) -> None:
    def answer(asked: ReceivedRequest) -> ScriptedAnswer:
        body = json.dumps({"say": "hello", "spent": {"heard": 100, "said": 10}}).encode()
        return ScriptedAnswer((body,), headers=(("twig-leaves", "90000"), ("twig-leaves-left", "50000")))

    with Provider(answer) as provider:
        done = _run(package, "-m", "laconic", "wrap", "twigger", "2", "a lot", TWIG_URL=provider.url)
        sent = [json.loads(asked.body) for asked in provider.asked]
    assert done.returncode == 0, done.stderr
    assert [request["ponder"] for request in sent] == ["a lot", "a bit"]


def test_refusals_and_the_rules_of_its_quota_and_its_cache_are_those_of_the_file(package: Path) -> None:
    code = (
        "from laconic.conversation.simulated_cache import CacheBlock, ProviderCache\n"
        "from laconic.wire.formats import format_named\n"
        "from laconic.wire.rate_limits import counts_cached\n"
        "from laconic.wire.refusals import named_limit, refusal, too_long\n"
        'said = too_long(400, b\'{"error": "A twig holds 9,000 of your 9,500 leaves"}\')\n'
        'print(said.most, said.sent, named_limit(429, b\'{"error": "no more than 7,000 leaves a minute"}\'))\n'
        "print(refusal('twig', 500, 'broken').decode(), counts_cached('twig', 'twig-large'))\n"
        "cache = ProviderCache(format_named('twig').cache, lambda: 0.0)\n"
        "cache.send([CacheBlock(b'a', 600)])\n"
        "usage = cache.send([CacheBlock(b'a', 600), CacheBlock(b'b', 40)])\n"
        "print(format_named('twig').usage.write(usage), usage.cache_read, cache.cost(usage))\n"
    )
    done = _run(package, "-c", code)
    assert done.stdout.splitlines() == [
        "9000 9500 7000",
        '{"twig":"broken"} False',
        "{'heard': 640, 'said': 0} 600 340.0",
    ], done.stderr


def test_when_the_new_client_compacts_by_itself_is_known_by_its_name(package: Path) -> None:
    code = (
        "from laconic.clients.registry import compaction_limit\nprint(compaction_limit('Twigger/1.0', 'm', 77_000))\n"
    )
    assert _run(package, "-c", code).stdout.strip() == "70000"
