"""Which files hold secrets by their names."""

from __future__ import annotations

import pytest

from laconic.errors import Unreadable
from laconic.workspace.secrets import SecretFiles


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env.production",
        ".ENV",
        "prod.env",
        ".envrc",
        "certs/server.pem",
        "server.key",
        "id_rsa",
        "keys/id_ed25519_work",
        "store.p12",
        "release.keystore",
        ".npmrc",
        "sub/.pypirc",
        ".netrc",
        ".aws/credentials",
        "home/.aws/credentials",
        "service-account-prod.json",
        ".git/config",
    ],
)
def test_secrets(path: str) -> None:
    assert SecretFiles().is_secret(path)
    with pytest.raises(Unreadable, match=r"index\.secrets"):
        SecretFiles().check(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        ".env.sample",
        ".env.local.template",
        "id_rsa.pub",
        "credentials",
        "aws/credentials.py",
        "environment.py",
        "keyboard.py",
        "src/env.ts",
        "monkey.py",
    ],
)
def test_no_secrets(path: str) -> None:
    assert not SecretFiles().is_secret(path)


def test_the_user_lets_some_through_or_all() -> None:
    some = SecretFiles((".env.test", "tests/**"))
    assert not some.is_secret("a/.env.test")
    assert not some.is_secret("tests/certs/a.pem")
    assert some.is_secret(".env")
    assert not SecretFiles(("all",)).is_secret(".env")
