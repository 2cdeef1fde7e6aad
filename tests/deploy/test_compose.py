"""The container and the compose file name only what exists: settings, options, files, and each other."""

from __future__ import annotations

import copy
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from compose_pydantic import ComposeSpecification
from pydantic import ValidationError
from tests.deploy.files import (
    DEPLOY,
    HAPROXY,
    KNOWN,
    ROOT,
    compose,
    dockerfile,
    dockerfile_words,
    laconic_variables,
    make_certificate,
    parse_command,
)

from laconic.config import load
from laconic.gateway.provider_keys import read_provider_keys


def test_the_compose_file_is_one() -> None:
    ComposeSpecification.model_validate(compose())
    misspelt = copy.deepcopy(compose())
    misspelt["services"]["gateway"]["restrat"] = "always"
    with pytest.raises(ValidationError):
        ComposeSpecification.model_validate(misspelt)


def test_services_name_only_what_is_there() -> None:
    whole = compose()
    for service in whole["services"].values():
        assert set(service.get("secrets", [])) <= whole["secrets"].keys()
        assert set(service.get("depends_on", [])) <= whole["services"].keys()
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in whole["volumes"] or (DEPLOY / source).is_file(), volume
    assert (DEPLOY / whole["services"]["gateway"]["build"] / "Dockerfile").is_file()


def _gateway(tmp_path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    service = compose()["services"]["gateway"]
    (tmp_path / "anthropic").write_text("sk-ant-real")
    environment = {}
    for name, value in service["environment"].items():
        environment[name] = value.replace("/run/secrets", str(tmp_path))
    return service, environment


def test_the_gateway_understands_its_environment(tmp_path: Path) -> None:
    """Every variable is a setting, and every value one that the setting takes."""
    _, environment = _gateway(tmp_path)
    assert {name for name in environment if name.startswith("LACONIC_")} <= KNOWN
    settings = load(environ=environment, file=tmp_path / "none.toml")
    assert settings.flag("team.required")
    assert read_provider_keys(settings.text("team.provider_keys"))


def test_docker_waits_as_long_as_the_gateway_may_drain(tmp_path: Path) -> None:
    service, environment = _gateway(tmp_path)
    settings = load(environ=environment, file=tmp_path / "none.toml")
    wait = float(service["stop_grace_period"].removesuffix("s"))
    assert wait > settings.ratio("gateway.notice") + settings.ratio("gateway.drain")


def test_the_image_runs_a_command_that_exists() -> None:
    assert dockerfile_words("ENTRYPOINT") == ["laconic"]
    args = parse_command(dockerfile_words("CMD"))
    assert args.listen.endswith(":" + re.findall(r"^EXPOSE (\d+)$", dockerfile(), re.MULTILINE)[0])
    assert args.token_file.name in compose()["secrets"]
    assert laconic_variables(dockerfile()) <= KNOWN


def test_the_image_gets_every_file_that_it_copies() -> None:
    """What .dockerignore leaves out cannot be copied."""
    sent = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile(), re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists()
            assert f"!{source}" in sent


def test_the_balancer_takes_its_configuration(tmp_path: Path) -> None:
    if not Path(HAPROXY).exists():
        pytest.skip("no HAProxy")
    service = compose()["services"]["balancer"]
    make_certificate(tmp_path / "certificate")
    bind = service["environment"]["LACONIC_BIND"].replace("/run/secrets", str(tmp_path))
    files = [word.replace("/etc/laconic", str(DEPLOY)) for word in service["command"][1:]]
    environment = {**os.environ, "LACONIC_BIND": bind}
    checked = subprocess.run([HAPROXY, "-c", *files], env=environment, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr.decode()
    published = service["ports"][0].split(":")[1]
    assert f":{published} " in bind
