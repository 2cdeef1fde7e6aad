"""What a host tells the model about Laconic. Loads nothing, so that it is available at once."""

from __future__ import annotations

from typing import Final

INSTRUCTIONS: Final = (
    "Answers about this code base in few tokens. Use search, inspect (symbols with body, references, callers, tests),"
    " context (code for a task) and read (several places at once) before grep and cat. Ask several things at once."
    " budget: tokens, or compact, standard, full. workspace: other code bases or all. at: a commit."
)
