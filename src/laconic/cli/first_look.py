"""The first look: what the recorded sessions of the last days cost, and what they would have cost with us."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from laconic.cli.session_replay import ReplayedSession, replay_session
from laconic.cli.terminal import track
from laconic.config import Settings
from laconic.conversation.accounting import describe_change
from laconic.dashboard.format import money, short
from laconic.models.model import Price
from laconic.models.price_lookup import Prices
from laconic.render.plural import count_of
from laconic.sessions.recorded.record import RecordedSession, RecordedUsage
from laconic.tokens.count import counter

_EXPENSIVE = 3  # sessions that are named
_TITLE = 60  # characters of a title


class SessionEstimate(msgspec.Struct, frozen=True):
    """One recorded session, as it was and as it would have been. Dollars are 0 where the price is not known."""

    client: str
    name: str
    title: str
    project: str
    model: str
    last: float
    counted: bool  # the client wrote down what the provider counted
    priced: bool
    requests: int
    prompt: int
    prompt_with_us: int
    output: int
    dollars: float
    dollars_with_us: float
    replayed: ReplayedSession

    @property
    def saved(self) -> float:
        return self.dollars - self.dollars_with_us


def look_at(sessions: Sequence[RecordedSession], settings: Settings) -> Iterator[SessionEstimate]:
    """Each session through the engine, with a bar on a terminal."""
    prices = Prices(settings.text("prices"))
    sizes = []
    for each in sessions:
        sizes.append(1 + len(each.transcript.messages))
    for session in track(sessions, "messages replayed", sizes):
        yield _look(session, prices.of(session.model), settings)


def _look(session: RecordedSession, price: Price, settings: Settings) -> SessionEstimate:
    """What was recorded is taken as it is; what would have been is the replay's share of it."""
    replayed = replay_session(
        session.transcript,
        "default",
        session.model,
        settings,
        fixed=_fixed(session),
        title=session.title,
        client=session.client,
    )
    outcome = replayed.outcome
    dollars, with_us = replayed.dollars, replayed.dollars_passed
    prompt, output = outcome.tokens, replayed.output
    if session.requests:
        prompts = sum(_prompt_dollars(one.usage, price) for one in session.requests)
        answers = sum(price.output_dollars(one.usage.output, one.usage.prompt) for one in session.requests)
        dollars = prompts + answers
        with_us = prompts * _share(outcome.passed_cost, outcome.cost) + answers
        prompt, output = session.usage.prompt, session.usage.output
    return SessionEstimate(
        client=session.client,
        name=session.name,
        title=session.title,
        project=session.project,
        model=session.model,
        last=session.last,
        counted=bool(session.requests),
        priced=price.known,
        requests=len(session.requests) or outcome.turns,
        prompt=prompt,
        prompt_with_us=round(prompt * _share(outcome.passed, outcome.tokens)),
        output=output,
        dollars=dollars,
        dollars_with_us=with_us,
        replayed=replayed,
    )


def _fixed(session: RecordedSession) -> int:
    """Tokens of the system prompt and the tools, which no client records: what the first request had besides its text."""
    if not session.requests:
        return 0
    count = counter(session.model)
    before = 0
    for message in session.transcript.messages:
        if message.get("role") == "assistant":
            break
        before += count(msgspec.json.encode(message).decode("utf-8", "replace"))
    return max(0, session.requests[0].usage.prompt - before)


def _prompt_dollars(one: RecordedUsage, price: Price) -> float:
    return price.prompt_dollars(plain=one.input, read=one.cache_read, write=one.cache_write, hour=one.long)


def _share(part: float, whole: float) -> float:
    if whole:
        return part / whole
    return 1.0


def summarize(found: Sequence[SessionEstimate], days: int) -> list[str]:
    """About ten lines."""
    lines = [_describe_sessions(found, days), _describe_cost(found), _describe_saving(found), ""]
    lines.append("Most expensive:")
    dearest = sorted(found, key=lambda one: (one.dollars, one.prompt), reverse=True)[:_EXPENSIVE]
    for each in dearest:
        lines.append(f"  {_describe_one(each)}")
    return [*lines, *_describe_losses(found)]


def _describe_sessions(found: Sequence[SessionEstimate], days: int) -> str:
    clients = Counter(one.client for one in found)
    listed = ", ".join(f"{client} {number:,}" for client, number in clients.most_common())
    requests = sum(one.requests for one in found)
    return f"Last {days} days: {count_of(len(found), 'session')} ({listed}), {count_of(requests, 'request')}."


def _describe_cost(found: Sequence[SessionEstimate]) -> str:
    about = "about "
    if all(one.counted for one in found):
        about = ""
    dollars = sum(one.dollars for one in found)
    prompt, output = sum(one.prompt for one in found), sum(one.output for one in found)
    unpriced = []
    for one in found:
        if not one.priced:
            unpriced.append(one)
    unknown = ""
    if unpriced:
        models = ", ".join(sorted({one.model or "an unnamed model" for one in unpriced})[:3])
        unknown = f"; price unknown for {count_of(len(unpriced), 'session')} ({models}): see the setting `prices`"
    tokens = f"{short(prompt)} prompt tokens, {short(output)} output tokens"
    if len(unpriced) == len(found):
        return f"They took {tokens}{unknown}."
    return f"They cost {about}{money(dollars)}: {tokens}{unknown}."


def _describe_saving(found: Sequence[SessionEstimate]) -> str:
    dollars, with_us = sum(one.dollars for one in found), sum(one.dollars_with_us for one in found)
    prompt, fewer = sum(one.prompt for one in found), sum(one.prompt_with_us for one in found)
    if not prompt:
        return "No tokens were counted."
    tokens = f"about {describe_change(fewer, prompt)} prompt tokens"
    if not dollars:
        return f"With Laconic: {tokens}."
    word = "less" if with_us <= dollars else "more"
    return f"With Laconic: about {money(with_us)}, {abs(1 - with_us / dollars):.0%} {word}; {tokens}."


def _describe_one(one: SessionEstimate) -> str:
    title = one.title or one.name
    if len(title) > _TITLE:
        title = f"{title[: _TITLE - 1]}…"
    cost = f"{money(one.dollars)}, about {money(one.dollars_with_us)} with Laconic"
    if not one.priced:
        cost = f"{short(one.prompt)} tokens, about {short(one.prompt_with_us)} with Laconic"
    day = datetime.fromtimestamp(one.last, UTC)
    return f"{title} ({one.client}, {day.day} {day:%b}, {count_of(one.requests, 'request')}): {cost}"


def _describe_losses(found: Sequence[SessionEstimate]) -> list[str]:
    """Where it would have hurt: dearer sessions, and lines that a later call needed."""
    dearer = []
    for each in found:
        if each.saved < -0.005:
            dearer.append(each)
    needed = sum(one.replayed.outcome.lines for one in found)
    kept = sum(one.replayed.outcome.lines_kept for one in found)
    lines = ["Where it would have hurt:"]
    if dearer:
        worst = min(dearer, key=lambda one: one.saved)
        lines.append(f"  {count_of(len(dearer), 'session')} would have cost more, at most {money(-worst.saved)}.")
    if kept < needed:
        what = f"{needed - kept:,} of {needed:,} lines that later calls used"
        lines.append(f"  {what} would have had to be recalled first.")
    if len(lines) == 1:
        return ["It would have hurt nowhere: no session costs more, and every line that was needed later is there."]
    return lines
