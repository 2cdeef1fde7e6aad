"""What a client would have done by itself: compact its history near the model's limit. Pure.

Without this, "without us" would count prompts that the client would never have sent. Where a client's limit is known (its
file in `clients` says it), its compaction is assumed to leave as little as it ever does, and to cost nothing: the lower
figure counts. When the client really compacts its history, it would have done so without us too: its request for a
summary then counts on both sides.
"""

from __future__ import annotations

from typing import Final

import msgspec

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


def is_rewound(came: float, came_before: float) -> bool:
    """Whether the client itself compacted its history since the last request, or began it anew."""
    return came < _REWOUND * came_before


def compact_as_client(
    whole: PromptSplit, *, fixed: float, limit: float, came: float, came_before: float, reported: float | None = None
) -> PromptSplit:
    """The prompt as the client would have sent it. `whole.dropped` is what compactions took out before.

    `reported` is the size of its last prompt, for a client that goes by that; None: it goes by this prompt. `fixed` are
    tokens that stand before all messages; `came` and `came_before` are the sizes of this request and of the last one, in
    any unit.
    """
    dropped = whole.dropped
    if is_rewound(came, came_before):
        dropped = 0.0
    tokens = whole.tokens - dropped
    judged = tokens if reported is None else min(reported, tokens)  # a shorter history was compacted in between
    if limit and judged > limit:
        kept = min(tokens, fixed + _KEPT * limit)
        warm = min(whole.warm, fixed)
        return PromptSplit(warm, kept - warm, whole.tokens - kept)
    warm = min(whole.warm, tokens)  # what was kept warm is what was sent: dropped tokens are not part of it
    return PromptSplit(warm, tokens - warm, dropped)
