"""How much an Ollama server takes of a prompt: what it has loaded a model with, or what the model's own settings say.

It cuts longer prompts without a word, and its default is far below what a model could take.
"""

from __future__ import annotations

import re
from typing import Final

from laconic.wire.json_spans import read_object
from laconic.wire.json_values import objects_in

_SET: Final = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.M)


def read_loaded_window(body: bytes, model: str) -> int:
    """From the list of loaded models (`/api/ps`); 0: the model is not loaded, or an older server does not say."""
    for entry in objects_in(read_object(body).get("models")):
        size = entry.get("context_length")
        if _plain(model) in {_plain(str(entry.get("name"))), _plain(str(entry.get("model")))} and isinstance(
            size, int
        ):
            return size
    return 0


def read_set_window(body: bytes) -> int:
    """From the description of a model (`/api/show`); 0: it sets none, and the server's default counts."""
    found = _SET.search(str(read_object(body).get("parameters", "")))
    if found is None:
        return 0
    return int(found[1])


def _plain(model: str) -> str:
    """`qwen3` and `qwen3:latest` are one model."""
    return model.removesuffix(":latest")
