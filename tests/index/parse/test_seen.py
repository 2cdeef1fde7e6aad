"""What is read from the corpus belongs to the parser's number: who changes the one raises the other.

`python tests/index/parse/test_seen.py` records anew what is seen. Files that were added or changed since do not count.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from laconic.index.content_record import read_content
from laconic.index.prepared_file import assemble
from laconic.index.schema import PARSER
from laconic.workspace.listing import ListedFile

CORPUS = Path(__file__).parents[2] / "corpus" / "parse"
RECORD = CORPUS.parent / "seen.json"


def _seen() -> dict[str, list[str]]:
    """By file: hashes of its bytes, and of all rows that they give."""
    found = {}
    for path in sorted(CORPUS.rglob("*")):
        if path.is_file() and path.suffix != ".expect":
            name, data = path.relative_to(CORPUS).as_posix(), path.read_bytes()
            rows = assemble(ListedFile(name, len(data), 0, 0), data, read_content(name, data), 0)
            found[name] = [_hash(data), _hash(msgspec.msgpack.encode(rows))]
    return found


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=6).hexdigest()


def test_a_parser_that_sees_other_things_has_another_number() -> None:
    """Else indexes that were made before it keep what the older one saw until each file changes."""
    record: dict[str, Any] = json.loads(RECORD.read_text("utf-8"))
    seen = _seen()
    same = {name for name, (data, _) in record["files"].items() if name in seen and seen[name][0] == data}
    assert len(same) >= 20, "record anew: python tests/index/parse/test_seen.py"
    other = sorted(name for name in same if seen[name] != record["files"][name])
    assert not other or record["parser"] < PARSER, f"raise PARSER in schema.py; it sees other things in {other}"
    assert record["parser"] == PARSER, "record anew: python tests/index/parse/test_seen.py"


if __name__ == "__main__":
    RECORD.write_text(json.dumps({"parser": PARSER, "files": _seen()}, indent=0) + "\n", "utf-8")
