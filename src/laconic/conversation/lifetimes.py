"""How long content stays useful, in turns of the assistant, as measured on recorded sessions."""

from __future__ import annotations

import msgspec


class LifetimeBySize(msgspec.Struct, frozen=True):
    """By the length of a text: keeping a short one costs little, and of a long one only used rows count as used."""

    short: int
    middle: int
    long: int

    def pick(self, size: int, short: int, big: int) -> int:
        """The age for a text of this size."""
        if size < short:
            return self.short
        if size < big:
            return self.middle
        return self.long


class Lifetimes(msgspec.Struct, frozen=True):
    """Ages are counted from the last time that a text, its file or a name of its own was of use."""

    # A file that was read and never changed is rarely copied from after this long. Of long ones only the rows around
    # what was used count as used: the others may still be edited.
    read: LifetimeBySize = LifetimeBySize(20, 16, 40)
    read_test: LifetimeBySize = LifetimeBySize(20, 16, 30)
    # Long documents (plans, changelogs, settings) are come back to late.
    read_document: LifetimeBySize = LifetimeBySize(30, 30, 30)
    # What our own `read` showed of a file that nobody changed since comes back by the same call: it gets this share.
    read_again: float = 0.7
    # Files under change come back: most late edits are to files that were changed before.
    changed: LifetimeBySize = LifetimeBySize(20, 20, 40)
    changed_test: LifetimeBySize = LifetimeBySize(20, 20, 40)
    # Documents under change are brought up to date when the work is done.
    changed_document: LifetimeBySize = LifetimeBySize(60, 60, 60)
    # What calls wrote is in its file, and often its only copy here.
    argument: int = 40
    argument_document: int = 60
    # Names of files are what the next calls are made of, and few tokens.
    paths: int = 100
    # Output of commands and hits of searches have been acted upon within a few turns; lists of files last as reads.
    output: LifetimeBySize = LifetimeBySize(14, 8, 4)
    search: LifetimeBySize = LifetimeBySize(16, 12, 6)
    # Below so many characters, and from so many on.
    output_short: int = 700
    output_big: int = 10_000
    # A script inside of a command.
    script: int = 12
    # The text that an edit replaced is no longer in the file.
    replaced: int = 4
    # When its edit succeeded it goes at once if it has so many tokens, and what stays is at most this share of it.
    replaced_least: int = 40
    replaced_share: float = 0.75
    # A text is of use when a name is written that it holds and at most one other text does.
    rare: int = 2
    # Of a large text only the rows around what is used count as used: the rest of a large file rarely comes back.
    big: int = 300
    # And below so many rows it is short.
    short: int = 80
    around: int = 40
    # At a cold moment a rewrite is free, a loss is not. Warm events are rare, so that what they leave out is older than
    # it has to be; cold ones come when the user does. There, what may be edited gets so many times its age.
    cold: float = 1.5
    # When a task is over, files under change that were of use within so many turns stay.
    finished_changed: int = 12
    # Except those of so many characters, which were never changed: they go with their task.
    huge: int = 40_000
    # The newest turns are never touched.
    protected: int = 4
    # Texts below this many characters are not worth a gap.
    smallest: int = 200
    # A repeat is worth a pointer from this many rows and characters on, or one row of so many characters.
    repeat_rows: int = 2
    repeat_characters: int = 60
    repeat_alone: int = 100
    # Output of commands is shortened as it comes in from this many tokens on.
    large: int = 120
    shrunk: tuple[str, ...] = ("run",)
    # An exchange goes as a whole after so many turns if no block has more tokens than this, nor its words more than that.
    rolled: int = 4
    rolled_tokens: int = 800
    rolled_words: int = 400
