"""A budget is filled: while there is room nothing is left out, and then what tells least goes first."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from laconic.reduce.text import fill_budget
from laconic.reduce.text.parts import ASKED, COMMON, TextPart
from laconic.reduce.text.wanted_words import find_words, raise_wanted
from laconic.tokens.count import counter

_COST = counter()


def _orders(count: int) -> list[dict[str, Any]]:
    chance = random.Random(7)
    rows = []
    for number in range(count):
        rows.append(
            {
                "id": 4000 + number,
                "customer": f"{chance.choice('ABCDEFGH')}{chance.randint(1000, 9999)}",
                "total": round(chance.uniform(5, 900), 2),
                "placed": f"2026-11-{chance.randint(1, 28):02}T10:{chance.randint(0, 59):02}:00Z",
            }
        )
    return rows


def test_nothing_is_left_out_while_there_is_room() -> None:
    rows = _orders(60)
    rows[31]["note"] = "word " * 300 + "the end of a long note"
    view = fill_budget(json.dumps(rows), cost=_COST, budget=6_000)
    for row in rows:
        assert f"{row['id']} | {row['customer']}" in view.text
    assert "the end of a long note" in view.text


def test_long_values_are_cut_before_rows_go() -> None:
    rows = _orders(60)
    for row in rows:
        row["note"] = "word " * 300
    view = fill_budget(json.dumps(rows), cost=_COST, budget=6_000)
    assert all(row["customer"] in view.text for row in rows)
    assert _COST(view.text) <= 6_000


@pytest.mark.parametrize("measure", ["total", "placed"])
def test_the_lowest_and_the_highest_stay(measure: str) -> None:
    rows = _orders(900)
    view = fill_budget(json.dumps(rows), cost=_COST, budget=1_000)
    for row in (min(rows, key=lambda row: row[measure]), max(rows, key=lambda row: row[measure])):
        assert f"{row['id']} | {row['customer']}" in view.text


def test_what_the_caller_names_stays_before_anything_else() -> None:
    rows = _orders(900)
    words = find_words(f"Who is the customer of order {rows[487]['id']}?")
    view = fill_budget(json.dumps(rows), cost=_COST, budget=500, words=words)
    assert f"{rows[487]['id']} | {rows[487]['customer']}" in view.text


def test_a_passage_is_found_by_the_words_of_a_question() -> None:
    chance = random.Random(3)
    things = ["valve", "pump", "filter", "motor", "sensor", "cable", "housing", "bearing", "rotor", "seal"]
    lines = [
        f"The {chance.choice(things)} of unit {n} is checked each spring by the {chance.choice(things)} crew."
        for n in range(600)
    ]
    lines[350] = "Warranty claims must reach the depot before the end of the quarter, together with the old part."
    text = "\n\n".join(lines)
    assert "end of the quarter" not in fill_budget(text, cost=_COST, budget=800).text
    view = fill_budget(text, cost=_COST, budget=800, words=find_words("By when is a claim due?"))
    assert "end of the quarter" in view.text


def test_a_sentence_that_goes_over_several_lines_is_found_by_its_words() -> None:
    chance = random.Random(5)
    people = ["clerk", "driver", "porter", "warden", "pilot", "baker", "miller", "tailor", "mason", "cooper"]
    asked = ["coolant", "turbine", "surplus", "sensor"]
    lines = [f"The {chance.choice(people)} tells the {chance.choice(people)} how it went." for _ in range(700)]
    for number in range(4, 700, 10):
        lines[number] = f"The {chance.choice(people)} checks the {chance.choice(asked)} before lunch."
    lines[350:353] = ["If the coolant of a turbine", "ever has a surplus by its sensor", "the lever is to be pulled."]
    question = find_words("What to do if the coolant of a turbine has a surplus by the sensor?")
    view = fill_budget("\n".join(lines), cost=_COST, budget=400, words=question)
    assert "ever has a surplus" in view.text
    assert "the lever is to be pulled" in view.text


@pytest.mark.parametrize(("flowing", "raised"), [(True, {20, 21, 22}), (False, {21})])
def test_the_lines_of_a_log_stand_for_themselves(flowing: bool, raised: set[int]) -> None:
    parts = [TextPart(f"line {chr(97 + n % 26) * 3}", COMMON) for n in range(60)]
    for number in (20, 22):
        parts[number] = TextPart("the pump is slow", COMMON)
    parts[21] = TextPart("the turbine, its sensor and the alarm are slow", COMMON)
    found = raise_wanted(parts, find_words("turbine sensor alarm pump"), flowing=flowing)
    assert {index for index, part in enumerate(found) if part.worth > ASKED} == raised


def test_a_few_errors_stay_whatever_is_looked_for() -> None:
    lines = [
        f"2026-03-01T10:{n // 60:02}:{n % 60:02}Z INFO worker-{n % 7} handled request {n * 13}" for n in range(3000)
    ]
    lines[1700] = "2026-03-01T11:00:00Z ERROR timeout after 30s calling billing"
    view = fill_budget("\n".join(lines), cost=_COST, budget=2_000, words=find_words("worker-3"))
    assert "timeout after 30s calling billing" in view.text


def test_a_digit_inside_a_name_is_no_word() -> None:
    assert find_words("/tmp/tmp3x_k7/rule 8 of 12b") == ("tmp", "rule", "8", "12")


@pytest.mark.parametrize("form", ["json", "csv"])
def test_the_names_of_columns_do_not_hide_the_row_that_is_asked_for(form: str) -> None:
    rows = _orders(900)
    wanted = rows[487]
    text = json.dumps(rows)
    if form == "csv":
        lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
        text = "\n".join(lines)
    words = find_words(f"Which customer placed order id {wanted['id']}, and what was the total?")
    view = fill_budget(text, cost=_COST, budget=1_000, words=words)
    assert wanted["customer"] in view.text


def test_errors_stay_unless_many_rows_tell_of_one() -> None:
    rows = _orders(180)
    for number, row in enumerate(rows):
        row["attempts"] = 1 + number % 5
        row["error"] = ("timeout error", "mailbox full")[number % 2]
    rows[101]["attempts"] = 48
    view = fill_budget(json.dumps(rows), cost=_COST, budget=1_500)
    assert f"{rows[101]['id']} | {rows[101]['customer']}" in view.text
    for row in rows:
        row["error"] = "none"
    rows[77]["error"] = "connection refused"
    view = fill_budget(json.dumps(rows), cost=_COST, budget=1_500)
    assert f"{rows[77]['id']} | {rows[77]['customer']}" in view.text


def test_bytes_that_are_written_as_letters_are_named_not_shown() -> None:
    blob = "iVBORw0KGgoAAAANSUhEUgAA" * 400
    view = fill_budget(json.dumps({"cells": [{"image": blob, "text": "a plot"}] * 3}), cost=_COST, budget=6_000)
    assert "a plot" in view.text
    assert _COST(view.text) < 400
