"""How long things stay of use, in turns of the assistant; the reasons are what recorded sessions showed."""

from __future__ import annotations

import msgspec


class Ages(msgspec.Struct, frozen=True):
    """By the length of a text: keeping a short one costs little, and of a long one only used rows count as used."""

    short: int
    middle: int
    long: int


class Lifetimes(msgspec.Struct, frozen=True):
    """Ages are counted from the last time that a text, its file or a name of its own was of use."""

    # A file that was read and never changed is rarely copied from after this long.
    read: Ages = Ages(20, 16, 16)
    # Tests are read to be imitated, the long ones above all.
    read_test: Ages = Ages(24, 40, 60)
    # Long documents (plans, changelogs, settings) are come back to late.
    read_document: Ages = Ages(28, 24, 40)
    # Files under change come back: most late edits are to files that were changed before.
    changed: Ages = Ages(36, 48, 90)
    changed_test: Ages = Ages(20, 48, 90)
    # Documents under change are brought up to date when the work is done.
    changed_document: Ages = Ages(90, 150, 250)
    # What calls wrote is in its file, and often its only copy here.
    argument: int = 54
    argument_document: int = 90
    # Output of commands and hits of searches have been acted upon within a few turns; lists of files last as reads.
    output: int = 4
    # Output about a file under change is looked at again while that goes on.
    output_changed: int = 8
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
    around: int = 80
    # Comments explain; what an agent copies is code.
    comments: float = 0.5
    # When a task is over, files under change that were of use within so many turns stay.
    finished_changed: int = 12
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
    # An exchange of which no block has more tokens than this is spent after so many turns; so many in a row roll up.
    rolled: int = 6
    rolled_tokens: int = 400
    rolled_least: int = 2
