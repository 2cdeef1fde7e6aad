"""What a host tells the model about us. Loads nothing, so that it can be said at once."""

from __future__ import annotations

from typing import Final

INSTRUCTIONS: Final = (
    "Answers about this code base, in few tokens: search (names, text, /regex/, paths, questions), inspect (symbols with"
    " body, references, callers, tests), context (code for a task), read (several places at once). Prefer these to grep"
    " and cat, and ask for much at once. budget: tokens, or compact, standard, full."
)
