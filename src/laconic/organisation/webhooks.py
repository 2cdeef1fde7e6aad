"""Pushes as GitHub, GitLab and Gitea report them: is it really them, and which repository is it.

Nothing of a report is fetched or believed: it only says where to look.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec

from laconic.errors import NotAllowed, UsageError
from laconic.workspace.checkouts import normalise_origin

FORGES: Final = ("github", "gitlab", "gitea")
_EVENTS: Final = {"github": "x-github-event", "gitlab": "x-gitlab-event", "gitea": "x-gitea-event"}
_PUSHES: Final = frozenset({"push", "push hook"})
_ADDRESSES: Final = ("clone_url", "ssh_url", "git_http_url", "git_ssh_url", "html_url", "web_url", "git_url", "url")


def read_push(forge: str, headers: Mapping[str, str], body: bytes, secret: str) -> list[str]:
    """The addresses of the repository that was pushed to, as `normalise_origin` writes them; none for other events."""
    if forge not in FORGES:
        raise UsageError(f"{forge[:20]!r} is not a known forge.", f"Use one of {', '.join(FORGES)}.")
    if not secret or not _is_signed(forge, headers, body, secret):
        raise NotAllowed("The request is not signed with this server's secret.", "Check the webhook's secret.")
    if headers.get(_EVENTS[forge], "").lower() not in _PUSHES:
        return []
    try:
        report = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        raise UsageError("The request is not JSON.", "Set the webhook's content type to application/json.") from None
    return _read_addresses(report)


def _is_signed(forge: str, headers: Mapping[str, str], body: bytes, secret: str) -> bool:
    """Compared in constant time. GitLab sends the secret itself."""
    signature = hmac.new(secret.encode(), body, sha256).hexdigest()
    expected = {
        "github": ("x-hub-signature-256", f"sha256={signature}"),
        "gitea": ("x-gitea-signature", signature),
        "gitlab": ("x-gitlab-token", secret),
    }
    name, wanted = expected[forge]
    return hmac.compare_digest(headers.get(name, "").encode("utf-8", "replace"), wanted.encode())


def _read_addresses(report: Any) -> list[str]:
    found: dict[str, None] = {}
    for part in ("repository", "project"):
        about = report.get(part) if isinstance(report, dict) else None
        if not isinstance(about, dict):
            continue
        for name in _ADDRESSES:
            address = about.get(name)
            if isinstance(address, str) and 0 < len(address) < 1_000:
                found[normalise_origin(address)] = None
    return list(found)
