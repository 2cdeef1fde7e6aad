"""Signatures of TypeScript are taken apart as they are written."""

from __future__ import annotations

from laconic.index.resolve.callbacks import (
    find_call_signatures,
    is_function_type,
    list_arguments,
    read_called_result,
    read_parameter_type,
    read_parameters,
)


def test_parameters_end_where_their_parenthesis_does() -> None:
    text = "<T extends (a: string) => void>(path: string, run: (c: T, n: number) => void, ...rest: T[]): App"
    assert read_parameters(text) == ["path: string", "run: (c: T, n: number) => void", "...rest: T[]"]
    assert read_called_result(text) == "App"


def test_a_rest_parameter_stands_for_all_further_arguments() -> None:
    parameters = ["path: string", "...handlers: [H<E>, ...H<E>[]]"]
    assert list_arguments(parameters, 0) == ["string"]
    assert list_arguments(parameters, 5) == ["H<E>", "H<E>[]"]
    assert list_arguments(["a: number"], 3) == []


def test_a_function_type_has_an_arrow_after_its_parameters() -> None:
    assert is_function_type("(a: T) => R")
    assert is_function_type("<A>(a: A) => Promise<A>")
    assert not is_function_type("(A | B)")
    assert not is_function_type("Handler<() => void>")


def test_only_members_without_a_name_are_call_signatures() -> None:
    members = ["// how", "name: string", "run(a: number): void", "<P>(", "path: P", "): App", "(a: string): void"]
    body = "\n".join(["interface H {", *members, "}"])
    assert [read_parameters(each) for each in find_call_signatures(body)] == [["path: P"], ["a: string"]]


def test_a_parameter_states_its_type_after_the_colon() -> None:
    assert read_parameter_type("name?: string = 'x'") == "string"
    assert read_parameter_type("{ a }: Props") == ""
