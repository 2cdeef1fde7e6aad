"""A team for tests: keys in a store of both kinds, a provider that counts, and a gateway that takes them."""

from __future__ import annotations

import json
from typing import Any

from laconic.exchange.turn_account import TurnAccount
from laconic.gateway.app import TeamParts
from laconic.gateway.provider_keys import ProviderKeys
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.gateway.team_access import TeamAccess
from laconic.gateway.turn_recorder import TurnRecorder
from laconic.models.price_lookup import Prices
from laconic.sessions.store import StorePlace
from laconic.sessions.team.keys import TeamKey, TeamKeys

SECRETS = {"anthropic": "sk-ant-real", "openai": "sk-proj-real", "gemini": "AIza-real"}
PRICES = Prices("claude-*=1000/1000, gpt-*=1000/1000, gemini-*=1000/1000")  # a dollar is a thousand tokens


def parts(place: StorePlace, *, required: bool = False, grace: float = 300.0) -> TeamParts:
    """What one replica has."""
    return TeamParts(TeamAccess(TeamKeys(place), PRICES, grace=grace), ProviderKeys(SECRETS), required)


def recorder() -> TurnRecorder:
    return TurnRecorder(TurnAccount(prices=PRICES))


def new_key(place: StorePlace, **wanted: Any) -> str:
    """A key as an admin makes it."""
    keys = TeamKeys(place)
    shown, _ = keys.create(TeamKey(**{"id": "", "owner": "alice", **wanted}), "test")
    keys.close()
    return shown


def anthropic(model: str = "claude-a", text: str = "hi", **more: object) -> bytes:
    return json.dumps(
        {"model": model, "max_tokens": 10, "messages": [{"role": "user", "content": text}], **more}
    ).encode()


def count_tokens(asked: ReceivedRequest) -> ScriptedAnswer:
    """Each answer costs a hundred tokens, in the form of each provider."""
    if "chat/completions" in asked.path:
        body: dict[str, object] = {"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 10}}
    elif "generateContent" in asked.path:
        body = {"candidates": [], "usageMetadata": {"promptTokenCount": 90, "candidatesTokenCount": 10}}
    else:
        body = {"content": [], "usage": {"input_tokens": 90, "output_tokens": 10}}
    return ScriptedAnswer((json.dumps(body).encode(),))
