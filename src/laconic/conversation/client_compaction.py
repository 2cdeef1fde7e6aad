"""What a client would have done by itself: compact its history near the model's limit. Pure.

Without this, "without us" would count prompts that the client would never have sent. Where a client's limit is known, its
compaction is assumed to leave as little as it ever does, and to cost nothing: the lower figure counts.
"""

from __future__ import annotations

from typing import Final

import msgspec

_CODEX_INPUT: Final = 272_000  # tokens that Codex lets a prompt have, of the models it is made for
_OPENCODE_OUTPUT: Final = 32_000  # tokens that opencode keeps free for the answer
_ONE_SHOT: Final = "sdk-cli"  # in the name that `claude -p` gives itself
_LATE: Final = ("codex", "opencode", "geminicli")  # look at the usage of the last answer
_KEPT: Final = 0.05  # of the limit: a short summary and the last messages
_REWOUND: Final = 0.7  # a history that is this much shorter was compacted, or begun anew, by the client itself


class PromptSplit(msgspec.Struct, frozen=True):
    """A prompt that would have been: what a cache would have given of it, and what not."""

    warm: float
    cold: float
    dropped: float = 0.0  # tokens that compactions took out so far

    @property
    def tokens(self) -> float:
        return self.warm + self.cold


def compacts_late(client: str) -> bool:
    """Whether a client compacts only after an answer reported that its prompt was too long, by the client's name.

    Such a prompt is still sent whole. Where it is not known, the client is taken to look before it sends.
    """
    return client.lower().startswith(_LATE)


def compaction_limit(client: str, window: int) -> int:
    """Tokens of a prompt at which a client compacts, by the name that it gives itself; 0: not known.

    Measured, or as the clients' own sources say: Codex at nine tenths of what it lets a prompt have, Claude Code at five
    sixths of the window (`claude -p` not before the provider refuses), opencode where the answer would no longer fit,
    Gemini CLI at half of it.
    """
    name = client.lower()
    if window <= 0:
        return 0
    if name.startswith("codex"):
        return int(0.9 * min(window, _CODEX_INPUT))
    if name.startswith("claude") and _ONE_SHOT in name:
        return window
    if name.startswith("claude"):
        return int(window * 5 / 6)
    if name.startswith("opencode"):
        return max(0, window - _OPENCODE_OUTPUT)
    if name.startswith("geminicli"):
        return window // 2
    return 0


def compact_as_client(
    whole: PromptSplit, *, fixed: float, limit: float, came: float, came_before: float, reported: float | None = None
) -> PromptSplit:
    """The prompt as the client would have sent it. `whole.dropped` is what compactions took out before.

    `reported` is the size of its last prompt, for a client that goes by that; None: it goes by this prompt. `fixed` are tokens that stand before all messages; `came` and `came_before` are the sizes of this request and of the
    last one, in any unit.
    """
    dropped = whole.dropped
    if came < _REWOUND * came_before:
        dropped = 0.0  # it did compact, or began anew
    tokens = whole.tokens - dropped
    judged = tokens if reported is None else min(reported, tokens)  # a shorter history was compacted in between
    if limit and judged > limit:
        kept = min(tokens, fixed + _KEPT * limit)
        warm = min(whole.warm, fixed)
        return PromptSplit(warm, kept - warm, whole.tokens - kept)
    warm = min(whole.warm, tokens)  # what was kept warm is what was sent: dropped tokens are not part of it
    return PromptSplit(warm, tokens - warm, dropped)
