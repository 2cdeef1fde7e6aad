"""Lists that programs print as YAML are read as the records that they are."""

from __future__ import annotations

import pytest
import yaml

from laconic.reduce.yaml_rows import read_records

_RECORDS = [
    {"Kind": "Pod", "Name": f"web-{n}", "Object": {"ns": "shop", "labels": {"app": "web"}}, "Notes": [f"a{n}", "b"]}
    for n in range(4)
]


def test_maps_lists_and_texts_are_read() -> None:
    assert read_records(yaml.safe_dump(_RECORDS)) == _RECORDS


def test_comments_before_and_long_texts_are_read() -> None:
    text = "# The events:\n" + "".join(f"- id: '{n}'\n  log: |\n    first {n}\n    second\n" for n in range(3))
    assert read_records(text)[2] == {"id": "2", "log": "first 2\nsecond"}


@pytest.mark.parametrize(
    "text",
    [
        "- buy milk\n- buy bread\n- call Bo: he knows\n",
        "- a: &x 1\n- a: *x\n- a: 2\n",
        "- a: {b: 1}\n- a: 1\n- a: 2\n",
        "- a: 1\nnot indented\n- a: 2\n- a: 3\n",
        "intro\n- a: 1\n- a: 2\n- a: 3\n",
    ],
)
def test_anything_else_is_left_alone(text: str) -> None:
    assert read_records(text) == []
