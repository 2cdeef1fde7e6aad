"""Forms that servers of others answer in: texts inside JSON, rows without names, long documents."""

from __future__ import annotations

import json

from laconic.reduce.text import reduce_text
from laconic.reduce.text.embedded_texts import open_document
from laconic.tokens.count import counter

_COST = counter()
_SYLLABLES = ("bar", "con", "del", "fir", "gam", "hol", "jun", "kol")


def _reduce(value: object, budget: int = 0) -> str:
    text = value if isinstance(value, str) else json.dumps(value, indent=1)
    return reduce_text(text, cost=_COST, budget=budget, more="whole: recall x").text


def test_a_text_in_json_is_written_as_what_it_is() -> None:
    stat = "\n".join(f" src/module_{number}.py | {number} ++" for number in range(40))
    shown = _reduce({"ok": True, "diff": stat, "files": 40})
    assert " src/module_39.py | 39 ++" in shown.split("\n")
    assert shown.split("\n")[0] == "ok: true"
    assert "files: 40" in shown.split("\n")
    assert "\\n" not in shown


def test_a_patch_that_a_comment_quotes_keeps_its_ends() -> None:
    """What is around a comment on code is context: whoever works on it reads the file."""
    hunk = "\n".join(["@@ -1,5 +1,400 @@ def run():", *(f"+    step_{number}(value)" for number in range(400))])
    fields = {"id": 7, "line": 514, "side": "RIGHT", "position": 484, "author": "Ann", "path": "run.py"}
    shown = _reduce({**fields, "diff_hunk": hunk, "body": "Please hoist this."})
    assert "@@ -1,5 +1,400 @@ def run():" in shown
    assert "+    step_399(value)" in shown
    assert "+    step_200(value)" not in shown
    assert "Please hoist this." in shown
    assert "whole: recall x" in shown


def test_json_in_a_string_of_json_is_opened() -> None:
    inner = {"files": [{"path": f"src/{number}.py", "size": number * 7} for number in range(30)], "id": "a0e1"}
    shown = _reduce({"result": json.dumps(inner, indent=2)})
    assert "id: a0e1" in shown
    assert "29.py | 203" in shown
    assert "\\n" not in shown


def test_a_string_that_only_begins_like_json_stays() -> None:
    broken = "{" + "word " * 60
    assert open_document(broken) is broken
    assert open_document("[" * 5_000 + "]" * 5_000) == "[" * 5_000 + "]" * 5_000
    assert open_document('{"a": 1}') == '{"a": 1}', "a short one is as clear in its quotes"


def test_rows_without_names_are_a_line_each_and_the_first_stay() -> None:
    rows = [[f"{number:040x}", "Ann Author", None, f"Change number {number} of the series"] for number in range(500)]
    shown = _reduce({"columns": ["hash", "author", "when", "subject"], "rows": rows}, 800)
    assert "rows (500):" in shown
    for number in range(4):
        assert f"{number:040x} | Ann Author | - | Change number {number} of the series" in shown
    assert "rows left out" in shown
    assert _COST(shown) <= 800


def test_a_long_document_keeps_its_beginning_and_its_headings() -> None:
    """Many lines that speak of errors must not drive them out."""
    names = [first + second for first in _SYLLABLES for second in _SYLLABLES]
    lines = ["The book", "========", "", "Written 2023-09-30", ""]
    for place, name in enumerate(names):
        lines += [f"About {name}", "-" * len(f"About {name}"), ""]
        lines += ["The error handler of " + " ".join(names[place : place + size]) + " fails." for size in range(1, 9)]
    shown = _reduce("\n".join(lines), 900)
    assert shown.startswith("The book")
    assert "Written 2023-09-30" in shown
    assert f"About {names[0]}\n" in shown
    assert f"About {names[-1]}\n" in shown


def test_a_long_log_keeps_its_first_and_last_line() -> None:
    rows = [
        f"2026-05-02T08:{n // 60:02d}:{n % 60:02d}Z INFO pool-{n % 5} finished job {n * 17}" for n in range(1_500)
    ]
    shown = _reduce("\n".join(rows)).split("\n")
    assert shown[0] == rows[0]
    assert shown[-2] == rows[-1]
    assert len(shown) < 8


def test_a_folder_that_a_file_server_lists_keeps_its_names() -> None:
    """They differ in numbers only, and each of them is a name."""
    rows = [f"[FILE] note_{number:03d}.txt                57 B" for number in range(150)]
    shown = _reduce("\n".join([*rows, "[DIR] logs", "", "Total: 150 files, 1 directories"]))
    for name in ("note_000.txt 57B", "note_007.txt 57B", "note_149.txt 57B", "logs/", "Total: 150 files"):
        assert name in shown
    assert _COST(shown) < 0.8 * _COST("\n".join(rows))
