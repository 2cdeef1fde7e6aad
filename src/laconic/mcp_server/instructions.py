"""What a host tells the model about us. Loads nothing, so that it can be said at once."""

from __future__ import annotations

from typing import Final

INSTRUCTIONS: Final = (
    "Answers about this code base, in few tokens. search finds names, text, /regex/, paths or answers a question;"
    " inspect shows a symbol with body, references, callers and tests; context collects code for a task in words;"
    " read shows lines (give several targets at once). Prefer these to grep and cat, and ask for much at once."
    " Each takes budget: tokens, or compact, standard, full."
)
