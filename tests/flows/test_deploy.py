"""What operators run, as far as it runs without Docker and Kubernetes: the image's own steps, the chart rendered by
Helm, and the services of the compose file on loopback."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import ssl
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from tests.deploy.files import (
    CHART,
    DEPLOY,
    HAPROXY,
    KNOWN,
    ROOT,
    compose,
    dockerfile,
    dockerfile_words,
    make_certificate,
    parse_command,
)

from laconic.config import load
from laconic_benchmarks.postgres_server import NoPostgres, PostgresServer, free_port

pytestmark = pytest.mark.flow

ALL_ON = ("autoscaling.enabled=true", "ingress.enabled=true", "ingress.className=nginx", "ingress.tlsSecret=tls")


def call(program: str, *words: str) -> str:
    """A program that pip installed beside this Python."""
    path = Path(sys.executable).with_name(program)
    if not path.exists():
        pytest.skip(f"{program} has no wheel for this machine")
    done = subprocess.run([path, *words], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return done.stdout.decode()


def render(*switches: str) -> dict[str, Any]:
    """The chart's objects by kind."""
    words = []
    for switch in switches:
        words += ["--set", switch]
    found = {}
    for each in yaml.safe_load_all(call("helm", "template", "team", str(CHART), *words)):
        found[each["kind"]] = each
    return found


def test_the_dockerfile_is_clean() -> None:
    call("hadolint", "--failure-threshold", "style", "Dockerfile")


def test_the_chart_is_clean() -> None:
    call("helm", "lint", "--strict", str(CHART))


@pytest.mark.parametrize("switches", [(), ALL_ON], ids=["as it is", "all on"])
def test_kubernetes_knows_what_the_chart_renders(switches: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(yaml.safe_dump_all(render(*switches).values()))
    call("kubernetes-validate", "--strict", str(file))


def test_the_chart_without_extras_has_no_objects_for_them() -> None:
    assert render().keys() == {"Deployment", "Service", "ConfigMap", "PodDisruptionBudget"}
    assert render(*ALL_ON).keys() - render().keys() == {"HorizontalPodAutoscaler", "Ingress"}


def test_a_pod_gets_settings_and_options_that_exist(tmp_path: Path) -> None:
    objects = render()
    pod = objects["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert parse_command(container["args"]).listen == "0.0.0.0:8787"
    assert {each["name"] for each in container["env"]} <= KNOWN
    file = tmp_path / "config.toml"
    file.write_text(objects["ConfigMap"]["data"]["config.toml"])
    settings = load(environ={}, file=file)
    assert settings.text("team.provider_keys") == tomllib.loads(file.read_text())["team"]["provider_keys"]
    drain = settings.ratio("gateway.notice") + settings.ratio("gateway.drain")
    assert pod["terminationGracePeriodSeconds"] > drain
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert mounted == {each["name"] for each in pod["volumes"]}


def test_settings_of_any_kind_reach_the_file(tmp_path: Path) -> None:
    """Quotes, commas and numbers."""
    file = tmp_path / "config.toml"
    words = ("--set-string", r"settings.prices=qwen*=0/0\, a=1/2", "--set", "settings.archive\\.limit_mb=1000000")
    for each in yaml.safe_load_all(call("helm", "template", "team", str(CHART), *words)):
        if each["kind"] == "ConfigMap":
            file.write_text(each["data"]["config.toml"])
    settings = load(environ={}, file=file)
    assert settings.text("prices") == "qwen*=0/0, a=1/2"
    assert settings.number("archive.limit_mb") == 1_000_000


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment of the image: what its own step installs, by a faster installer."""
    environment = tmp_path_factory.mktemp("image") / "laconic"
    (wanted,) = re.findall(r"/opt/laconic/bin/pip install --no-cache-dir (.*)$", dockerfile(), re.MULTILINE)
    call("uv", "venv", "--quiet", "--python", sys.executable, str(environment))
    call("uv", "pip", "install", "--quiet", "--python", str(environment / "bin" / "python"), *shlex.split(wanted))
    return environment / "bin"


@contextmanager
def service(words: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(words, env={**os.environ, **environment}, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.terminate()


def test_the_services_work_together(image: Path, tmp_path: Path) -> None:
    """PostgreSQL, two replicas from the image's environment, and HAProxy with TLS: only addresses are changed."""
    services = compose()["services"]
    if not Path(HAPROXY).exists():
        pytest.skip("no HAProxy")
    make_certificate(tmp_path / "certificate")
    (tmp_path / "anthropic").write_text("sk-ant-real")
    (tmp_path / "gateway_token").write_text("a-token-of-the-gateway")
    try:
        database = PostgresServer()
    except NoPostgres as error:
        pytest.skip(str(error))
    with database:
        asyncio.run(_try_services(services, database.new_database(), image, tmp_path))


async def _try_services(services: dict[str, Any], store: str, image: Path, folder: Path) -> None:
    ports = [free_port(), free_port()]
    balanced = free_port()
    async with AsyncExitStack() as stack:
        for number, port in enumerate(ports):
            environment = _environment(services["gateway"], folder)
            environment |= {"LACONIC_STORE": store, "LACONIC_CACHE_DIR": str(folder / f"cache{number}")}
            environment |= {"LACONIC_STATE_DIR": str(folder / f"state{number}"), "LACONIC_GATEWAY_NOTICE": "0"}
            words = _own_paths(dockerfile_words("CMD"), folder)
            words = [word.replace("0.0.0.0:8787", f"0.0.0.0:{port}") for word in words]
            process = stack.enter_context(service([str(image / "laconic"), *words], environment))
            assert process.stdout is not None
            assert b"laconic gateway on" in process.stdout.readline()
        _check_health(services["gateway"], image, ports[0])
        servers = "".join(f"  server r{port} 127.0.0.1:{port}\n" for port in ports)
        (folder / "replicas.cfg").write_text("backend replicas\n" + servers)
        environment = _environment(services["balancer"], folder)
        environment["LACONIC_BIND"] = environment["LACONIC_BIND"].replace("*:8443", f"127.0.0.1:{balanced}")
        files = ["-f", str(DEPLOY / "haproxy.cfg"), "-f", str(folder / "replicas.cfg")]
        stack.enter_context(service([HAPROXY, "-db", *files], environment))
        await _ask(f"https://localhost:{balanced}", folder)


def _environment(of: dict[str, Any], folder: Path) -> dict[str, str]:
    found = {}
    for name, value in of["environment"].items():
        found[name] = value.replace("/run/secrets", str(folder))
    return found


def _own_paths(words: list[str], folder: Path) -> list[str]:
    return [word.replace("/run/secrets", str(folder)) for word in words]


def _check_health(gateway: dict[str, Any], image: Path, port: int) -> None:
    """The compose file's own words, which must also be able to fail."""
    words = [word.replace("8787", str(port)) for word in gateway["healthcheck"]["test"][2:]]
    assert subprocess.run([image / "python", *words], check=False).returncode == 0
    wrong = [word.replace(str(port), str(free_port())) for word in words]
    assert subprocess.run([image / "python", *wrong], stderr=subprocess.DEVNULL, check=False).returncode != 0


async def _is_ready(client: aiohttp.ClientSession, base: str) -> bool:
    try:
        async with client.get(base + "/readyz") as answer:
            return answer.status == 200
    except aiohttp.ClientConnectionError:
        return False


async def _ask(base: str, folder: Path) -> None:
    trusted = ssl.create_default_context(cafile=str(folder / "certificate"))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusted)) as client:
        async with asyncio.timeout(30):
            while not await _is_ready(client, base):
                await asyncio.sleep(0.2)
        headers = {"x-laconic-token": "a-token-of-the-gateway"}
        async with client.get(base + "/laconic/team/api/keys.json", headers=headers) as answer:
            assert answer.status == 200
        async with client.get(base + "/laconic/team/api/keys.json") as answer:
            assert answer.status in {401, 403}
        async with client.post(base + "/v1/messages", data=b"{}", headers={"x-api-key": "sk-own"}) as answer:
            assert answer.status in {401, 403}  # team.required
