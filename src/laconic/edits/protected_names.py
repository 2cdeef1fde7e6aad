"""Names that are a version control folder on some file system, however they are written."""

from __future__ import annotations

import re
from typing import Final

# What HFS+ passes over when it compares names.
_IGNORABLE: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
# A folder in any case, its short name on NTFS, and what Windows drops behind a name: dots, spaces, a stream.
_FOLDER: Final = re.compile(r"(?:\.(?:git|hg|svn|jj)|(?:git|hg|svn|jj)~\d+)[. ]*(?::.*)?", re.IGNORECASE | re.DOTALL)


def is_version_control(name: str) -> bool:
    """Whether a part of a path names the folder in which git or another system keeps its own files."""
    plain = _IGNORABLE.sub("", name)
    return any(_FOLDER.fullmatch(part) for part in plain.split("\\"))
