"""`laconic team` on the command line."""

from __future__ import annotations

import pytest

from laconic.cli.main import main
from laconic.errors import UsageError


@pytest.mark.parametrize("days", ["-3", "1.5", "x"])
def test_spending_is_asked_for_whole_days(days: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises((SystemExit, UsageError)) as refusal:
        main(["team", "spending", "--days", days])
    said = str(refusal.value) + capsys.readouterr().err
    assert "0 or a whole number above 0" in said
