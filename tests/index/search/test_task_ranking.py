"""Candidates are put in order by what their code says, and lines by what stands in them and around them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from laconic.index.search.file_evidence import TaskFiles
from laconic.index.search.line_scores import (
    FUNCTION_WEIGHTS,
    OTHER_WEIGHTS,
    lines_in_functions,
    lines_outside_functions,
    score_lines,
)
from laconic.index.search.ranking import RankedSymbol
from laconic.index.search.task_query import TaskQuery
from laconic.index.search.task_ranking import WEIGHTS, extract_features, find_candidates, rerank
from laconic.index.store import Store
from laconic.index.workspace_index import Index

FILLER = "".join(f"    step_{n} = prepare({n})\n" for n in range(30))


class Looked:
    """A task on a small code base, with its candidates."""

    def __init__(self, index: Index, task: str) -> None:
        self.store: Store = index.store
        self.query = TaskQuery(index.store, task)
        self.files = TaskFiles(self.query, lambda path: (index.root / path).read_text().split("\n"))
        self.rows: list[RankedSymbol] = find_candidates(index.store, self.query)

    @property
    def ranked(self) -> list[RankedSymbol]:
        return rerank(self.rows, self.files)

    @property
    def scores(self) -> list[str]:
        return [repr(row.score) for row in self.ranked]

    @property
    def names(self) -> list[str]:
        return [row.symbol.name for row in self.ranked if row.symbol is not None]

    def seen(self, name: str) -> Mapping[str, float]:
        found = zip(self.rows, extract_features(self.rows, self.files), strict=True)
        return next(each for row, each in found if row.symbol is not None and row.symbol.name == name)

    def worth(self) -> dict[tuple[str, int], float]:
        return score_lines(self.ranked, self.files, self.store.symbols_of_path)


@contextmanager
def looked(folder: Path, task: str, files: Mapping[str, str]) -> Iterator[Looked]:
    for path, text in files.items():
        (folder / "code" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "code" / path).write_text(text)
    index = Index.open(folder / "code", folder / "cache")
    index.build()
    yield Looked(index, task)
    index.close()


def test_every_piece_of_evidence_has_a_weight_and_every_weight_its_evidence(tmp_path: Path) -> None:
    files = {"a.py": "import os\n\nLIMIT = 3\n\n\ndef parcel(weight):\n    return weight > LIMIT\n"}
    with looked(tmp_path, "The weight of a parcel is over the limit", files) as it:
        assert it.seen("parcel").keys() == WEIGHTS.keys()
        parts = {"inside": lines_in_functions(it.ranked, it.files)}
        parts["outside"] = lines_outside_functions(it.ranked, it.files, lambda path: [])
        names = {
            which: {name for common, lines in part for _, seen in lines for name in common | seen}
            for which, part in parts.items()
        }
        assert names == {"inside": set(FUNCTION_WEIGHTS), "outside": set(OTHER_WEIGHTS)}


def test_words_that_stand_together_count_more_than_the_same_words_far_apart(tmp_path: Path) -> None:
    together = f"def first(order):\n{FILLER}    if order.parcel_weight > heaviest:\n        pass\n{FILLER}"
    apart = f"def other(order):\n    parcel = order\n{FILLER}    weight = 1\n{FILLER}    heaviest = 2\n"
    with looked(tmp_path, "The parcel weight is heaviest", {"a.py": together, "b.py": apart}) as it:
        assert it.seen("first")["best line"] > it.seen("other")["best line"]
        assert it.seen("first")["pairs"] > it.seen("other")["pairs"] == 0
        assert it.names[0] == "first"


def test_the_scope_of_a_commit_message_is_looked_for_in_paths(tmp_path: Path) -> None:
    body = "def total(prices):\n    return sum(prices)\n"
    files = {"billing/sums.py": body, "basket/sums.py": body}
    with looked(tmp_path, "fix(billing): total of prices is rounded", files) as it:
        assert it.ranked[0].path == "billing/sums.py"
    with looked(tmp_path, "fix(basket): total of prices is rounded", files) as it:
        assert it.ranked[0].path == "basket/sums.py"


def test_who_uses_a_name_that_the_task_writes_is_told_from_who_does_not(tmp_path: Path) -> None:
    files = {
        "a.py": "def one(order):\n    return apply_discount(order)\n\n\ndef two(order):\n    return order\n",
        "b.py": "def apply_discount(order):\n    return order\n",
    }
    with looked(tmp_path, "An order counts `apply_discount` twice", files) as it:
        assert it.seen("one")["uses names"] > it.seen("two")["uses names"] == 0
        assert it.seen("apply_discount")["named"] == 1
        assert it.names.index("one") < it.names.index("two")


def test_the_best_score_is_zero_and_the_order_is_that_of_the_scores(tmp_path: Path) -> None:
    files = {f"m{n}.py": f"def parcel_{n}(weight):\n    return weight\n" for n in range(300)}
    with looked(tmp_path, "The weight of a parcel", files) as it:
        scores = [row.score for row in it.ranked]
        assert len(scores) == len(it.rows) == 300  # those that were not read come last
        assert scores[0] == 0
        assert scores == sorted(scores, reverse=True)


def test_the_same_task_gives_the_same_scores_whatever_the_order_of_sets(tmp_path: Path) -> None:
    words = [f"{first}{second}cel" for first in "bdfgklmnpr" for second in "aeiou"]
    task = "Lost\n\n" + " ".join(word for count, word in enumerate(words) for _ in range(count % 7 + 1))
    text = "".join(f"def call_{n}():\n    return {' + '.join(words[n:])}\n\n\n" for n in range(40))
    code = (
        "import sys\nfrom pathlib import Path\nfrom tests.index.search.test_task_ranking import looked\n"
        "with looked(Path(sys.argv[1]), sys.argv[2], {'a.py': sys.argv[3]}) as it:\n    print(it.scores, it.worth())\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / seed), task, text],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[3])},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1


def test_a_function_far_down_in_a_file_is_read_like_any_other(tmp_path: Path) -> None:
    ship = "\n\ndef ship(order):\n    if order.parcel_weight > heaviest:\n        raise Overweight(order)\n"
    far = "".join(f"VALUE_{n} = {n}\n" for n in range(6_000))
    others = "".join(f"def parcel_{n}(weight):\n    return weight\n\n\n" for n in range(10))
    with looked(
        tmp_path, "Overweight is raised, the parcel weight is compared", {"a.py": far + ship, "b.py": others}
    ) as it:
        assert it.names[0] == "ship"
        assert ("a.py", 6_004) in it.worth()


def test_lines_of_nested_functions_are_weighed_once(tmp_path: Path) -> None:
    nested = "".join(f"{'    ' * n}def parcel_{n}(weight):\n" for n in range(40)) + "    " * 40 + "return weight\n"
    with looked(tmp_path, "The weight of a parcel", {"a.py": nested}) as it:
        seen = [place for _, lines in lines_in_functions(it.ranked, it.files) for place, _ in lines]
        assert len(seen) == len(set(seen)) == 41


def test_lines_about_the_task_are_worth_more_and_comments_less(tmp_path: Path) -> None:
    body = f"def ship(order):\n{FILLER}    if order.parcel_weight > 3:\n        late()\n{FILLER}"
    comment = "    # order parcel_weight\n    left = order.parcel_weight\n"
    with looked(tmp_path, "The parcel weight of an order", {"a.py": body + comment}) as it:
        worth = it.worth()
        best = sorted(worth, key=lambda place: -worth[place])[:3]
        assert best == [("a.py", 65), ("a.py", 64), ("a.py", 32)]


def test_what_stands_outside_of_functions_has_its_worth_too(tmp_path: Path) -> None:
    files = {"a.py": "import parcels\n\nHEAVIEST = 3\n\n\ndef ship(order):\n    return parcels.send(order)\n\n}\n"}
    with looked(tmp_path, "Ship parcels up to the heaviest", files) as it:
        worth = it.worth()
        assert {line for _, line in worth} == {1, 3, 6, 7}  # not those without a word
