"""Hangs, unplugs, restarts and garbage, at a scripted modem: what was sent ends in a true state."""

import pytest
import trio

from cases import examples
from risala.drivers.modem.port.serial import PortError, PortFault
from risala.plugins.contract import Accepted, HealthState, Uncertain, Unsent
from risala.plugins.testing.conformance import segment


def traces(line) -> str:
    return "\n".join(line.context.traces)


async def test_a_modem_that_hangs_for_a_moment(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        modem.deaf = True
        await line.context.wait_health(HealthState.DOWN)
        assert isinstance(await line.driver.submit(segment()), Unsent)
        modem.deaf = False
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert line.opened == 1
        assert "The modem answers again." in traces(line)


@pytest.mark.slow
async def test_a_modem_that_hangs_again_and_again_is_always_found(autojump_clock, modem, new_line):
    """Every twenty minutes, as sticks do: nothing may wear out."""
    async with new_line(modem).run() as line:
        hangs = examples(30)
        for _ in range(hangs):
            await trio.sleep(1200)
            modem.deaf = True
            await line.context.wait_health(HealthState.DOWN)
            modem.deaf = False
            await line.context.wait_health(HealthState.UP)
            assert line.details["signal_dbm"] == -73
        assert traces(line).count("The modem answers again.") == hangs
        assert line.opened == 1


async def test_a_hang_in_the_middle_of_a_question(autojump_clock, modem, new_line):
    silent = iter([None])
    async with new_line(modem).run() as line:
        modem.replies[r"AT\+CSQ"] = lambda _: next(silent, "+CSQ: 20,99\r\nOK")
        await trio.sleep(200)
        assert line.details["signal_dbm"] == -73
        assert line.opened == 1


async def test_the_whole_ladder(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        modem.deaf = True
        await line.context.wait_until(lambda it: line.opened >= 3)
        told = traces(line)
        rungs = ["escape and resync", "soft reset", "restart of the modem", "opening the port"]
        places = [told.index(rung) for rung in rungs]
        assert places == sorted(places)
        modem.deaf = False
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_hung_in_the_middle_of_a_send(autojump_clock, modem, new_line):
    def hang(_):
        modem.deaf = True

    modem.cmgs = hang
    async with new_line(modem).run() as line:
        assert isinstance(await line.driver.submit(segment()), Uncertain)
        await line.context.wait_until(lambda it: line.opened >= 2)
        modem.deaf, modem.cmgs = False, None
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_unplugged_in_the_middle_of_a_send(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:

        def unplug(_):
            line.plugged = False
            line.nursery.start_soon(modem.hang_up)

        modem.cmgs = unplug
        async with trio.open_nursery() as line.nursery:
            outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Uncertain)
        await line.context.wait_until(lambda it: "Waiting for it" in it.healths[-1].text)
        assert isinstance(await line.driver.submit(segment()), Unsent)
        await trio.sleep(1000)
        line.plugged, modem.cmgs = True, None
        await line.context.wait_health(HealthState.UP)
        assert "is back" in traces(line)
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_unplugged_at_rest(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        line.plugged = False
        await modem.hang_up()
        await line.context.wait_health(HealthState.DOWN)
        assert isinstance(await line.driver.submit(segment()), Unsent)


async def test_garbage_in_the_middle_of_a_send(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: "garbage!\r\n^RSSI:12\r\n+CMGS: 5\r\n\0\0\r\nOK"
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
        assert outcome.raw == "+CMGS: 5"


async def test_a_modem_that_starts_anew_is_set_up_anew(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        set_up = modem.count("AT+CMGF=0")
        await modem.say("RDY")
        await line.context.wait_health(HealthState.DOWN)
        await line.context.wait_health(HealthState.UP)
        assert modem.count("AT+CMGF=0") == set_up + 1


async def test_a_port_that_is_busy(autojump_clock, modem, new_line):
    line = new_line(modem)
    line.faults = [PortError(PortFault.BUSY, "/dev/fake is in use, often by ModemManager.")] * 3
    async with line.run() as line:
        assert line.opened == 4
        assert any("ModemManager" in health.text for health in line.context.healths)


async def test_nothing_is_sent_by_ctrl_z_while_recovering(autojump_clock, modem, new_line):
    """A modem that still holds a body gets ESC, never what would send it."""
    bodies = []
    modem.replies[r"AT\+CMGS=.*"] = None
    async with new_line(modem).run() as line:
        modem.cmgs = bodies.append
        await line.driver.submit(segment())
        await trio.sleep(100)
        assert bodies == []
        assert modem.escapes >= 1


async def test_a_send_while_another_command_is_given_up_waits_for_the_mending(
    autojump_clock, modem, new_line
):
    """It would have been refused as out of sync, and the modem taken for dead."""
    async with new_line(modem, check_every_s=1).run() as line:
        asked = trio.Event()
        modem.replies[r"AT\+COPS\?"] = lambda _: asked.set()  # and no word
        await asked.wait()
        outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Accepted)
        await trio.sleep(100)
        assert "Recovery" not in traces(line)
        assert all(health.state is not HealthState.DOWN for health in line.context.healths[-20:])


async def test_a_command_that_is_cancelled_leaves_nothing_behind(autojump_clock, modem, new_line):
    modem.replies[r"AT\+CUSD=1,.*"] = None
    async with new_line(modem, check_every_s=1).run() as line:
        with trio.move_on_after(2):
            await line.driver.command("ussd", ("*124#",))
        assert isinstance(await line.driver.submit(segment()), Accepted)
        await trio.sleep(100)
        assert "Recovery" not in traces(line)


async def test_the_answer_about_the_pdu_mode_is_lost(autojump_clock, modem, new_line):
    answers = iter([None, "K"])
    modem.replies[r"AT\+CMGF=0"] = lambda _: next(answers, "OK")
    async with new_line(modem).run() as line:
        assert all(health.state is not HealthState.SICK for health in line.context.healths)


async def test_what_was_silent_is_asked_again_after_an_hour(autojump_clock, modem, new_line):
    """A bad cable may have lost it twice: the signal must not stay unknown until the next start."""
    async with new_line(modem).run() as line:
        modem.replies["AT[+]CSQ"] = None
        await trio.sleep(600)
        asked = modem.count("AT+CSQ")
        modem.replies["AT[+]CSQ"] = "+CSQ: 10,99\r\nOK"
        await trio.sleep(600)
        assert modem.count("AT+CSQ") == asked
        await trio.sleep(3600)
        assert modem.count("AT+CSQ") > asked
        assert line.details["signal_dbm"] == -93


async def test_unplugged_between_the_reference_and_its_ok(autojump_clock, modem, new_line):
    """The network has it: it must not be sent again."""
    async with new_line(modem).run() as line, trio.open_nursery() as nursery:

        async def tell_and_leave() -> None:
            await modem.say("+CMGS: 17")
            await modem.hang_up()

        modem.cmgs = lambda _: nursery.start_soon(tell_and_leave)
        outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Accepted)
        assert outcome.raw == "+CMGS: 17"
        await line.context.wait_health(HealthState.DOWN)
