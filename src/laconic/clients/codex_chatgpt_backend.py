"""Where the workspace of a ChatGPT account has its backend. Codex asks its account before it sends a prompt; so do we."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Final

from laconic.clients.config_files import Table, table_at, text_at
from laconic.errors import Unroutable
from laconic.serving.no_redirects import build_opener

CHATGPT: Final = "https://chatgpt.com"
ACCOUNTS: Final = f"{CHATGPT}/backend-api"
_ANYWHERE: Final = frozenset({"", "NO_CONSTRAINT"})
_SECONDS: Final = 15
_FIX: Final = "Run `codex` once so that it renews its login, or set `openai_base_url` in its config.toml."

AskAccount = Callable[[str, str, str, str | None], Table]  # address, token, account, proxy of the network


def ask_account(base: str, token: str, account: str, proxy: str | None) -> Table:
    """What the service says about the accounts of a login; nothing where it does not know the question."""
    headers = {"authorization": f"Bearer {token}", "accept": "application/json"}
    if account:
        headers["chatgpt-account-id"] = account
    request = urllib.request.Request(f"{base}/wham/accounts/check", headers=headers)
    try:
        with build_opener(proxy).open(request, timeout=_SECONDS) as answer:
            said = json.load(answer)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 404:
            return {}
        raise Unroutable(f"ChatGPT does not say where the workspace of Codex is (HTTP {error.code}).", _FIX) from None
    except (OSError, ValueError) as error:
        raise Unroutable(f"ChatGPT does not say where the workspace of Codex is: {error}.", _FIX) from None
    if not isinstance(said, dict):
        raise Unroutable("ChatGPT does not say where the workspace of Codex is.", _FIX)
    return said


def find_workspace(said: Table, account: str) -> str:
    """The origin of the backend of the account in use."""
    entry = _find_account(said, account or text_at(said, "default_account_id"))
    constraint = text_at(entry, "account_routing_override")
    if constraint not in _ANYWHERE:
        raise Unroutable(f"The ChatGPT workspace of Codex fixes where its requests are processed ({constraint}).")
    return text_at(entry, "workspace_backend_origin").rstrip("/") or CHATGPT


def read_login(auth: Table, variable: str) -> tuple[str, str]:
    """The token and the account that Codex uses, from its file or from the variable that replaces it."""
    tokens = table_at(auth, "tokens")
    if variable:
        return variable, ""
    return text_at(tokens, "access_token"), text_at(tokens, "account_id")


def _find_account(said: Table, account: str) -> Table:
    accounts = said.get("accounts")
    if isinstance(accounts, dict):
        accounts = list(accounts.values())
    if not accounts or not isinstance(accounts, list):
        return {}
    entries = [entry for entry in accounts if isinstance(entry, dict)]
    for entry in entries:
        if account in {text_at(entry, "account_id"), text_at(entry, "id")}:
            return entry
    if len(entries) == 1 and not account:
        return entries[0]
    raise Unroutable("ChatGPT does not know the account that Codex is signed in with.", _FIX)
