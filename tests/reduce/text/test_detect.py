"""Kinds are recognised by content, also when the text comes wrapped, coloured, numbered, or inside something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from laconic.reduce.text import detect, reduce_text
from laconic.tokens.count import counter

SAMPLES = Path(__file__).parent / "samples"
COST = counter()
WRAPPINGS = {
    "mini-swe-agent": "<returncode>1</returncode>\n<output>\n{}\n</output>",
    "claude code": "Exit code 1\n{}",
    "prompt": "$ make test\n{}",
    "task runner": "[test:ci] $ make test\n{}",
}


@pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS)
@pytest.mark.parametrize(
    ("name", "kind"),
    [("jest.txt", "tests"), ("gcc.txt", "diagnostics"), ("api.json", "json"), ("search.txt", "search")],
)
def test_wrapping_does_not_hide_a_kind_and_stays(wrapping: str, name: str, kind: str) -> None:
    text = wrapping.format((SAMPLES / name).read_text("utf-8").strip())
    assert detect(text) == kind
    view = reduce_text(text, cost=COST).text
    assert view.split("\n")[0] == text.split("\n")[0]
    assert ("</output>" in view) == ("</output>" in text)


def test_colour_does_not_hide_a_kind() -> None:
    plain = "src/a.ts:{n}:5 - error TS2304: Cannot find name 'x{n}'.\n\n{n} x{n}\n  ~~\n"
    painted = (
        "\x1b[96msrc/a.ts\x1b[0m:\x1b[93m{n}\x1b[0m:5 - \x1b[91merror\x1b[0m TS2304: Cannot find name 'x{n}'.\n\n"
    )
    assert detect("".join(plain.format(n=n) for n in range(1, 9))) == "diagnostics"
    assert detect("".join(painted.format(n=n) for n in range(1, 9))) == "diagnostics"


def test_a_numbered_file_loses_its_padding_only() -> None:
    text = "\n".join(f"{n:6}\tline of code {n}: error" for n in range(1, 200))
    view = reduce_text(text, cost=COST)
    assert view.kind == "numbered"
    assert view.lossless
    assert [line.strip() for line in text.split("\n")] == view.text.split("\n")[:-1]


def test_hits_without_line_numbers_stand_below_their_file() -> None:
    text = "\n".join(f"tests/schema/test_{n // 9}.py:    def test_number_{n}(self):" for n in range(36))
    view = reduce_text(text, cost=COST)
    assert view.kind == "search"
    assert view.lossless
    assert "tests/schema/test_1.py\ndef test_number_9(self):\n" in view.text


def test_source_code_stays_whole_without_a_budget() -> None:
    code = Path(__file__).read_text("utf-8")
    view = reduce_text(code, cost=COST)
    assert view.kind == "code"
    assert view.text.split("\n") == [line.rstrip() for line in code.replace("\n\n\n", "\n\n").strip().split("\n")]


def test_a_patch_inside_a_test_log_is_context_and_the_failure_stays() -> None:
    patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n"
    passed = "".join(f"tests/test_x.py::test_{n} PASSED [ {n % 100}%]\n" for n in range(300))
    failed = "tests/test_x.py::test_last FAILED\nE       assert 1 == 2\ntests/test_x.py:9: AssertionError\n"
    text = f"+ git diff\n{patch}+ pytest\n{passed}{failed}=== 1 failed, 300 passed in 1.2s ===\n"
    view = reduce_text(text, cost=COST)
    assert view.kind == "tests"
    for kept in ("-b\n+c", "300 passing tests", "test_last FAILED", "assert 1 == 2", "1 failed, 300 passed"):
        assert kept in view.text
    assert len(view.text) < 500


def test_warnings_before_a_json_document_do_not_hide_it_and_stay() -> None:
    text = 'npm warn unknown config "x"\n' + (SAMPLES / "api.json").read_text("utf-8").strip()
    view = reduce_text(text, cost=COST)
    assert view.kind == "json"
    assert view.text.startswith('npm warn unknown config "x"\n')
    assert reduce_text("see also:\n[1, 2", cost=COST).kind == "prose"
