"""What the demo says in the terminal as it begins."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from risala.app.demo import greet
from risala.sms.numbering.plan import plan_of


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_terminal_says_how_to_begin_one_elsewhere(tmp_path, is_terminal):
    told = io.StringIO()
    console = Console(file=told, force_terminal=is_terminal, width=200, color_system=None)
    plan = plan_of(("MR",))
    greet(console, "http://localhost", {"secret_key": "sk"}, tmp_path / "demo.json", plan)
    assert "money are those of Mauritania." in told.getvalue()
    assert "Elsewhere: risala serve --demo --country SN" in told.getvalue()
