"""TLS with a certificate that the test makes itself; what cannot serve TLS is said before anything listens."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from laconic.config import child_environment
from laconic.errors import BadSetting
from laconic.exchange.engine_adapter import PassThroughEngine
from laconic.gateway.app import build
from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.routes import Upstreams
from laconic.gateway.scripted_upstream import ScriptedAnswer, ScriptedUpstream
from laconic.serving.listen import ListenAddress, bind, listen
from laconic.serving.server import server_for

BODY = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'


@dataclass(frozen=True)
class Pair:
    certificate: Path
    key: Path


def _made(folder: Path, name: str, *more: str) -> Pair:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is needed to make a certificate")
    pair = Pair(folder / f"{name}.pem", folder / f"{name}.key")
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2 -subj /CN=localhost"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(pair.key), "-out", str(pair.certificate)]
    subprocess.run([*words.split(), *files, *(more or ("-nodes",))], check=True, capture_output=True)
    return pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return _made(tmp_path_factory.mktemp("tls"), "own")


async def _asked(where: ListenAddress, trusted: Path) -> tuple[int, bytes]:
    """One request over TLS by a client that trusts this certificate and no other."""
    async with ScriptedUpstream(lambda _: ScriptedAnswer((b'{"ok":true}',))) as upstream:
        app = build(
            Upstreams(upstream.url, upstream.url, upstream.url), PassThroughEngine(), GatewayPolicy(), where.token
        )
        opened = bind(where)
        server = server_for(app, where)
        serving = asyncio.ensure_future(server.serve(sockets=[opened]))
        while not server.started:
            await asyncio.sleep(0.01)
        port = opened.getsockname()[1]
        context = ssl.create_default_context(cafile=str(trusted))
        try:
            async with (
                aiohttp.ClientSession(headers={"x-laconic-token": where.token}) as client,
                client.post(f"https://127.0.0.1:{port}/v1/messages", data=BODY, ssl=context) as answer,
            ):
                return answer.status, await answer.read()
        finally:
            server.should_exit = True
            await serving


def test_requests_come_over_tls(pair: Pair) -> None:
    where = listen("127.0.0.1:0", "word", str(pair.certificate), str(pair.key), insecure=False)
    assert asyncio.run(_asked(where, pair.certificate)) == (200, b'{"ok":true}')


def test_with_a_certificate_and_a_token_other_addresses_may_be_opened(pair: Pair) -> None:
    assert not listen("0.0.0.0:0", "word", str(pair.certificate), str(pair.key), insecure=False).local
    with pytest.raises(BadSetting, match="reached by others"):
        listen("0.0.0.0:0", "", str(pair.certificate), str(pair.key), insecure=False)


def test_a_client_that_does_not_know_the_certificate_refuses(pair: Pair, tmp_path: Path) -> None:
    where = listen("127.0.0.1:0", "word", str(pair.certificate), str(pair.key), insecure=False)
    with pytest.raises(aiohttp.ClientConnectorCertificateError):
        asyncio.run(_asked(where, _made(tmp_path, "stranger").certificate))


def test_files_that_cannot_serve_tls_are_named(pair: Pair, tmp_path: Path) -> None:
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_bytes(b"\x00no certificate")
    locked = _made(tmp_path, "locked", "-passout", "pass:secret")
    stranger = _made(tmp_path, "stranger")
    bad = [
        ("nowhere.pem", str(pair.key)),
        (str(pair.certificate), "nowhere.key"),
        (str(nonsense), str(pair.key)),
        (str(pair.certificate), str(nonsense)),
        (str(pair.certificate), str(stranger.key)),  # of another certificate
        (str(pair.certificate), ""),  # a key is in neither
        ("", str(pair.key)),
        (str(locked.certificate), str(locked.key)),
        (str(tmp_path), str(pair.key)),
    ]
    for certificate, key in bad:
        with pytest.raises(BadSetting):
            listen("127.0.0.1:0", "", certificate, key, insecure=False)


def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "laconic", "gateway", "--listen", "127.0.0.1:0", "--certificate", "nowhere.pem"]
    variables = child_environment({"LACONIC_CACHE_DIR": str(tmp_path)})
    ended = subprocess.run(words, env=variables, capture_output=True, check=False)
    assert ended.returncode != 0
    assert b"nowhere.pem" in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) <= 2
