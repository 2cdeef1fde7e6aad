"""What counts as an answer outside of a key's repositories."""

from __future__ import annotations

from pathlib import Path

from laconic_benchmarks.team.forks import BenchRepository
from laconic_benchmarks.team.outsiders import rename, replace_names, shows

_VICTIM = BenchRepository("fork2/six", Path("/nowhere"), "0123456789ab")
_TARGET = "@fork2+six/own/marker_0.py"
_CALL = {"targets": ["@mine+debug/../fork2+six/own/marker_0.py", _TARGET]}


def test_a_refusal_may_repeat_what_it_refuses() -> None:
    assert not shows(f"error: No file named '{_CALL['targets'][0]}'.\nNo file named '{_TARGET}'.\n", _CALL, _VICTIM)


def test_a_refusal_may_repeat_the_end_of_a_path() -> None:
    said = (
        "error: ../fork2+six/own/marker_0.py is outside the workspace /srv/files/mine+debug. Use a path below it.\n"
    )
    assert not shows(said, _CALL, _VICTIM)


def test_a_secret_counts_whatever_was_asked() -> None:
    assert shows("return helper_0123456789ab(value)", _CALL, _VICTIM)
    assert shows("marker0_0123456789ab", {"query": "marker0_0123456789ab"}, _VICTIM)


def test_more_of_a_repository_than_the_call_names_counts() -> None:
    assert shows(f"No file named '{_TARGET}'. Did you mean @fork2+six/own/marker_1.py?", _CALL, _VICTIM)
    assert shows("workspaces: mine+debug, fork2+six", {"workspace": "fork2/six"}, _VICTIM)
    assert shows("@fork2+six/own/marker_0.py:1 def marker0_", {"targets": ["../files/fork2+six/own"]}, _VICTIM)
    assert shows("/srv/files/fork2+six is outside the workspace", {"path": "own/marker_0.py"}, _VICTIM)


def test_other_repositories_do_not_count() -> None:
    assert not shows("@mine+debug/src/common.js: 12 lines", {"query": "common"}, _VICTIM)


def test_names_are_replaced_wherever_they_stand() -> None:
    call = {"targets": [_TARGET, "own/a.py"], "workspace": "fork2/six"}
    names = {"fork2/six": "sbex2/six", "fork2+six": "sbex2+six"}
    assert replace_names(call, names) == {
        "targets": ["@sbex2+six/own/marker_0.py", "own/a.py"],
        "workspace": "sbex2/six",
    }
    assert rename("fork2/six") == "sbex2/six"
