"""Reports of pushes: only signed ones count, and they only name a repository."""

from __future__ import annotations

import hmac
import json
from hashlib import sha256

import pytest

from laconic.errors import NotAllowed, UsageError
from laconic.organisation.webhooks import read_push

SECRET = "s3cret"
BODY = json.dumps({"repository": {"clone_url": "https://git.example.com/acme/billing.git"}}).encode()
GITLAB = json.dumps({"project": {"git_http_url": "https://user:pw@git.example.com/acme/billing.git"}}).encode()
SIGNATURE = hmac.new(SECRET.encode(), BODY, sha256).hexdigest()


@pytest.mark.parametrize(
    ("forge", "headers", "body"),
    [
        ("github", {"x-hub-signature-256": f"sha256={SIGNATURE}", "x-github-event": "push"}, BODY),
        ("gitea", {"x-gitea-signature": SIGNATURE, "x-gitea-event": "push"}, BODY),
        ("gitlab", {"x-gitlab-token": SECRET, "x-gitlab-event": "Push Hook"}, GITLAB),
    ],
)
def test_signed_pushes_name_their_repository(forge: str, headers: dict[str, str], body: bytes) -> None:
    assert read_push(forge, headers, body, SECRET) == ["git.example.com/acme/billing"]


@pytest.mark.parametrize("forge", ["github", "gitea", "gitlab"])
@pytest.mark.parametrize("given", ["", "sha256=", SIGNATURE[:-1] + "x", "s3cret ", "é"])
def test_unsigned_reports_are_refused(forge: str, given: str) -> None:
    headers = {"x-hub-signature-256": given, "x-gitea-signature": given, "x-gitlab-token": given}
    with pytest.raises(NotAllowed):
        read_push(forge, headers, BODY + b" ", SECRET)


def test_without_a_secret_nothing_is_signed() -> None:
    empty = hmac.new(b"", BODY, sha256).hexdigest()
    with pytest.raises(NotAllowed):
        read_push("gitea", {"x-gitea-signature": empty, "x-gitea-event": "push"}, BODY, "")


def test_other_events_and_forges() -> None:
    headers = {"x-gitea-signature": SIGNATURE, "x-gitea-event": "issues"}
    assert read_push("gitea", headers, BODY, SECRET) == []
    with pytest.raises(UsageError):
        read_push("elsewhere", headers, BODY, SECRET)


@pytest.mark.parametrize("report", [[], {}, {"repository": 7}, {"repository": {"clone_url": ["x"]}}])
def test_reports_that_name_nothing(report: object) -> None:
    body = json.dumps(report).encode()
    headers = {"x-gitlab-token": SECRET, "x-gitlab-event": "push hook"}
    assert read_push("gitlab", headers, body, SECRET) == []


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"repository": ' + b'{"a":' * 100_000, b"\xff", b""])
def test_a_signed_report_that_cannot_be_read_is_refused(body: bytes) -> None:
    signature = hmac.new(SECRET.encode(), body, sha256).hexdigest()
    headers = {"x-gitea-signature": signature, "x-gitea-event": "push"}
    with pytest.raises(UsageError, match="not JSON"):
        read_push("gitea", headers, body, SECRET)
