"""At the edge of a window: a rewrite that is forced comes late, once, and leaves room; a client's own comes first."""

from __future__ import annotations

from tests.conversation.sessions import Clock, count, engine, long_session, send

from laconic.conversation.engine import ConversationEngine, PreparedRequest
from laconic.conversation.engine_options import EngineOptions, RequestLimits

FORCED = EngineOptions(economic=False, semantic=1 << 60, standard=0)  # nothing but the window asks for a rewrite
MESSAGES = long_session(60)
TOKENS = send(engine(FORCED), MESSAGES).tokens  # of all of them


def _replay(one: ConversationEngine, bounds: RequestLimits, **fields: int) -> list[PreparedRequest]:
    """Every request of the session."""
    found = []
    for at, message in enumerate(MESSAGES):
        if message["role"] == "assistant":
            found.append(send(one, MESSAGES[:at], bounds, **fields))
    return [*found, send(one, MESSAGES, bounds, **fields)]


def test_a_prompt_that_fits_beside_an_answer_is_not_rewritten_however_long_an_answer_the_client_asks_for() -> None:
    bounds = RequestLimits(window=TOKENS + 8_192)
    sent = _replay(engine(FORCED), bounds, max_tokens=TOKENS)
    assert {one.mode for one in sent} == {""}
    assert sent[-1].tokens > 0.9 * TOKENS


def test_beyond_the_edge_it_is_rewritten_once_and_deep_enough_to_last() -> None:
    room = round(0.9 * TOKENS)
    modes = [one.mode for one in _replay(engine(FORCED), RequestLimits(window=room + 8_192), max_tokens=10_000)]
    assert modes.count("window") == 1
    at = modes.index("window")
    rewritten = _replay(engine(FORCED), RequestLimits(window=room + 8_192), max_tokens=10_000)[at]
    assert rewritten.tokens < 0.5 * room
    assert count(rewritten.body.decode()) < 0.6 * room


def test_when_nothing_is_in_the_cache_what_would_have_to_go_soon_goes() -> None:
    bounds = RequestLimits(window=round(1.1 * TOKENS) + 8_192)
    clock = Clock()
    one = engine(FORCED, clock=clock)
    assert send(one, MESSAGES[:-2], bounds, max_tokens=10_000).mode == ""
    assert send(one, MESSAGES, bounds, max_tokens=10_000).mode == ""
    clock.now += 7_200
    assert send(one, MESSAGES, bounds, max_tokens=10_000).mode == "window"


def test_a_client_that_compacts_soon_by_itself_is_left_to_it() -> None:
    options = EngineOptions(economic=False, semantic=1 << 60, standard=TOKENS - 1_000)
    assert send(engine(options), MESSAGES, RequestLimits(compacts_at=round(1.2 * TOKENS))).mode == ""
    for compacts_at in (0, 3 * TOKENS):
        assert send(engine(options), MESSAGES, RequestLimits(compacts_at=compacts_at)).mode == "standard"
