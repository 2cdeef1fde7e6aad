"""What a client would have done by itself: compact its history near the model's limit. Pure.

Without this, "without us" would count prompts that the client would never have sent. Where a client's limit is known (its
file in `clients` says it), its compaction is assumed to leave as little as it ever does. Its request for a summary costs
what is known of it, and nothing where nothing is known: the lower figure counts. When the client really compacts its
history, it asks for a summary too; without us it did so then, or had done so before.
"""

from __future__ import annotations

from typing import Final

import msgspec

_KEPT: Final = 0.05  # of the limit, where nothing else is known: a short summary and the last messages
_NEAR: Final = 0.9  # of the limit: a history that was compacted from there was compacted because of it
_REWOUND: Final = 0.7  # a history that is this much shorter was compacted, or begun anew, by the client itself


class ClientCompaction(msgspec.Struct, frozen=True):
    """How a client compacts its history."""

    limit: float = 0.0  # tokens of a prompt at which it does so; 0: not known
    late: bool = False  # only after the answer to such a prompt
    keeps_turns: int = 0  # of the newest turns, how many stay as they are
    keeps_tokens: int = 1_000  # beside them and its tools: a short summary, instructions within its messages
    summarises: float = 0.0  # share of its history that it has summarised in a request of its own; 0: not known

    @property
    def is_apart(self) -> bool:
        """Whether its request for a summary, and what comes after, are conversations of their own."""
        return 0 < self.summarises < 1

    def count_kept(self, grown: float, grown_before: float) -> float | None:
        """Tokens that it keeps of a history, beside what stands before all messages; None: not known."""
        if not self.summarises:
            return None
        return self.keeps_tokens + sum((grown, grown_before)[: self.keeps_turns])

    def guess_uncompacted(self, made: float, before: float, grown_before: float) -> PromptSplit:
        """The prompt that would have been had it not just compacted its history.

        `made` are the tokens behind what stands before all messages, `before` those of the last prompt that would have
        been. The newest turn is part of what it kept, or of its request for a summary.
        """
        if not self.keeps_turns:
            return PromptSplit(before, 0.0)
        return PromptSplit(before - grown_before, max(0.0, made - self.keeps_tokens) / self.keeps_turns)

    def is_reached(self, prompt: float) -> bool:
        """Whether it compacts a history after such a prompt by itself."""
        return self.summarises > 0 and prompt >= _NEAR * self.limit

    def split_summary(self, before: float, grown_before: float) -> PromptSplit:
        """Its request for a summary: of the history of its last prompt, or of a short form that no cache holds."""
        if self.summarises == 1.0:
            return PromptSplit(max(0.0, before - grown_before), min(before, grown_before))
        return PromptSplit(0.0, self.summarises * before)


class PromptSplit(msgspec.Struct, frozen=True):
    """A prompt that would have been: what a cache would have given of it, and what not."""

    warm: float
    cold: float
    dropped: float = 0.0  # tokens that compactions took out so far
    compacted: bool = False  # for this prompt

    @property
    def tokens(self) -> float:
        return self.warm + self.cold


def is_rewound(came: float, came_before: float) -> bool:
    """Whether the client itself compacted its history since the last request, or began it anew."""
    return came < _REWOUND * came_before


def compact_as_client(
    whole: PromptSplit,
    *,
    fixed: float,
    limit: float,
    came: float,
    came_before: float,
    reported: float | None = None,
    kept: float | None = None,
) -> PromptSplit:
    """The prompt as the client would have sent it. `whole.dropped` is what compactions took out before.

    `reported` is the size of its last prompt, for a client that goes by that; None: it goes by this prompt. `fixed` are
    tokens that stand before all messages, `kept` those that stay behind them; `came` and `came_before` are the sizes of
    this request and of the last one, in any unit.
    """
    dropped = whole.dropped
    if is_rewound(came, came_before):
        dropped = 0.0
    tokens = whole.tokens - dropped
    judged = tokens if reported is None else min(reported, tokens)  # a shorter history was compacted in between
    if limit and judged > limit:
        if kept is None:
            kept = _KEPT * limit
        left = min(tokens, fixed + kept)
        warm = min(whole.warm, fixed)
        return PromptSplit(warm, left - warm, whole.tokens - left, compacted=True)
    warm = min(whole.warm, tokens)  # what was kept warm is what was sent: dropped tokens are not part of it
    return PromptSplit(warm, tokens - warm, dropped)
