"""The yardstick: nothing but tree-sitter's parse and the queries, same files, same number of processes."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from laconic.index.parse import language_of
from laconic.index.parse.compiled import compile_language

_CHUNK = 40


def captures(paths: list[str]) -> int:
    """Parse and query some files; the number of captures, so that nothing can be left undone."""
    import tree_sitter  # only the children need it

    count = 0
    for path in paths:
        data = Path(path).read_bytes()
        language = language_of(path, data[:4096])
        ready = compile_language(language.name) if language else None
        if ready is None:
            continue
        root = tree_sitter.Parser(ready.grammar).parse(data).root_node
        for query in (ready.definitions, ready.references):
            if query is not None:
                count += sum(len(found) for found in tree_sitter.QueryCursor(query).captures(root).values())
    return count


def main() -> None:
    """Paths on the standard input, the number of processes as the argument."""
    paths = sys.stdin.read().split("\0")
    chunks = [paths[at : at + _CHUNK] for at in range(0, len(paths), _CHUNK)]
    with ProcessPoolExecutor(int(sys.argv[1]), mp_context=get_context("spawn")) as pool:
        if not sum(pool.map(captures, chunks)):
            sys.exit("nothing was parsed")


if __name__ == "__main__":
    main()
