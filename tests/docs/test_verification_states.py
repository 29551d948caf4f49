"""The page of a verification's states is the table that the engine runs on."""

import re
from pathlib import Path

from risala.engine.model.states import SessionState
from risala.engine.rules.verification import TABLE, diagram

PAGE = (Path(__file__).parents[2] / "docs/reference/verification-states.md").read_text("utf-8")


def test_the_diagram_is_drawn_from_the_table():
    drawn = re.search(r"```mermaid\n(.*?)\n```", PAGE, re.S)
    assert drawn
    assert drawn[1] == diagram()


def test_every_state_event_and_reason_is_explained():
    for state in SessionState:
        assert f"| `{state}` |" in PAGE
    for move in TABLE.values():
        if move.event is not None:
            reason = f"`{move.reason}`" if move.reason else ""
            assert f"| `{move.event}` | {reason}" in PAGE
