"""What a timeline and a carrier say of a modem in trouble is true, and in an operator's words."""

import pytest
import trio

from risala.drivers.modem.at.causes import outcome_of
from risala.drivers.modem.at.lines import final_of
from risala.engine.model.cause_sentences import cause_sentence
from risala.plugins.contract import Cause, HealthState, Refused, Scope, Uncertain, Unsent
from risala.plugins.testing.conformance import segment


@pytest.mark.parametrize("error", ["+CMS ERROR: 332", "+CMS ERROR: 513", "+CME ERROR: 31"])
async def test_the_network_does_not_acknowledge(autojump_clock, modem, new_line, error):
    modem.cmgs = lambda _: error
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
    assert isinstance(outcome, Uncertain)
    assert outcome.raw == error
    assert outcome.cause is Cause.NOT_ACKNOWLEDGED
    assert "did not acknowledge" in cause_sentence(outcome.cause)


@pytest.mark.parametrize("error", ["+CMS ERROR: 332", "+CMS ERROR: 513", "+CME ERROR: 31"])
async def test_the_same_before_the_text_left_is_certain(autojump_clock, modem, new_line, error):
    modem.replies[r"AT\+CMGS=.*"] = error
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
    assert isinstance(outcome, Refused)
    assert outcome.scope is Scope.NOW
    assert outcome.raw == error
    assert outcome.text.endswith("nothing was sent.")


def test_of_what_has_left_it_is_uncertain():
    result = final_of("+CMS ERROR: 332", numeric=False)
    assert result is not None
    assert isinstance(outcome_of(result, has_left=True), Uncertain)
    assert isinstance(outcome_of(result, has_left=False), Refused)


async def test_a_modem_that_is_silent_after_the_text(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: None
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
    assert isinstance(outcome, Uncertain)
    assert outcome.text == "The message was submitted; then the modem gave no answer within 60 s."
    assert (outcome.raw, outcome.cause) == ("", Cause.NO_ANSWER)


async def test_a_modem_that_falls_silent_while_a_message_waits_for_its_turn(
    autojump_clock, modem, new_line
):
    """Its port was closed by nobody."""
    async with new_line(modem, check_every_s=5, prompt_timeout_s=1).run() as line:
        asked = trio.Event()

        def fall_silent(_):
            modem.deaf = True
            asked.set()

        modem.replies["AT"] = fall_silent
        await asked.wait()
        outcome = await line.driver.submit(segment())
    assert isinstance(outcome, Unsent)
    assert outcome.text == "The modem gave no answer within 10 s; nothing was sent."
    assert outcome.cause is Cause.DEVICE_FAULT


async def test_a_modem_that_starts_anew_in_the_middle_of_a_send(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: "RDY"
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
    assert isinstance(outcome, Uncertain)
    assert outcome.text == "The message was submitted; then the modem restarted."


async def test_a_modem_that_is_unplugged_in_the_middle_of_a_send(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line, trio.open_nursery() as nursery:
        modem.cmgs = lambda _: nursery.start_soon(modem.hang_up)
        outcome = await line.driver.submit(segment())
    assert isinstance(outcome, Uncertain)
    assert "connection to the modem was lost (unplugged or restarting)" in outcome.text
    assert outcome.cause is Cause.LINK_LOST


async def test_a_silent_modem_s_health_names_no_command(
    autojump_clock, modem, new_line, deliver_pdu
):
    """The command stands in the trace, for who wants it."""
    async with new_line(modem).run() as line:
        modem.replies["AT[+]CNMA"] = lambda _: setattr(modem, "deaf", True)
        pdu = deliver_pdu("direct")
        await modem.say(f"+CMT: ,{len(pdu) // 2 - 8}\r\n{pdu}")
        await line.context.wait_health(HealthState.DOWN)
        assert line.context.healths[-1].text == "The modem gave no answer within 10 s."
        await line.context.wait_until(lambda it: "+CNMA: no answer within 10 s" in it.traces)
