"""A simulated modem rings, tells who calls where it is asked to, and is hung up."""

from __future__ import annotations

import pytest

from risala.lab.modem.script.actions import ActionError, perform
from risala.lab.modem.world.events import CallCame, CallEnded


def said(desk, for_s: float) -> list[str]:
    return [line for line in desk.hear(for_s).split("\r\n") if line]


@pytest.mark.parametrize("command", ["ATH", "AT+CHUP"])
def test_it_rings_until_it_is_hung_up(desk, command):
    desk.ask("AT+CLIP=1")
    perform(desk.modem, "call +22236123456")
    line = '+CLIP: "+22236123456",145'
    assert said(desk, 6) == ["RING", line, "RING", line]
    desk.ask(command)
    assert said(desk, 60) == []
    assert desk.of(CallCame) == [CallCame("+22236123456")]
    assert desk.of(CallEnded) == [CallEnded("+22236123456")]
    desk.ask(command)
    assert len(desk.of(CallEnded)) == 1


def test_a_caller_gives_up(desk):
    perform(desk.modem, "call 36123456")
    assert said(desk, 60) == [*["RING"] * 6, "NO CARRIER"]


@pytest.mark.parametrize("shows", [True, False])
def test_a_number_may_be_held_back(new_desk, shows):
    desk = new_desk(shows_callers=shows)
    assert f"+CLIP: 0,{int(shows)}" in desk.rows("AT+CLIP?")
    desk.ask("AT+CLIP=1")
    assert f"+CLIP: 1,{int(shows)}" in desk.rows("AT+CLIP?")
    perform(desk.modem, "call withheld" if shows else "call 36123456")
    assert said(desk, 1) == ["RING", '+CLIP: "",128,,,,2']


@pytest.mark.parametrize("line", ["call", "call me", "call +"])
def test_only_numbers_call(desk, line):
    with pytest.raises(ActionError):
        perform(desk.modem, line)
