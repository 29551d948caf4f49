"""Checks of the modem itself: whether it answers, has a network, and takes messages."""

from __future__ import annotations

from typing import Final

from risala.drivers.modem.at.fields import first, number, signal_dbm
from risala.drivers.modem.doctor.bench import Bench
from risala.drivers.modem.doctor.findings import WEAK_BARS, CheckVerdict, Strength, fail, ok, warn
from risala.drivers.modem.port.serial import is_tcp
from risala.drivers.modem.ready.identity import identify_modem
from risala.drivers.modem.ready.routing import choose_routing, choose_storage
from risala.drivers.modem.ready.start import initialize, radio_is_off, talk_plainly, turn_radio_on
from risala.drivers.modem.ready.storage import Usage
from risala.drivers.modem.talk.link import NoAnswerError

_WAKE_S: Final = 2.0
_NETWORK_S: Final = 20.0
"""The answer to a question that the modem passes on to the network."""
_POSITION: Final = b"$G"
"""Begins each line of a GPS receiver (NMEA 0183)."""


# -- does it answer -----------------------------------------------------------------------------


async def answers(bench: Bench) -> CheckVerdict:
    quirk = ""
    if not await _hears(bench):
        quirk = "the first command after a rest is lost"
        bench.link.engine.forget()
        if not await _hears(bench):
            quirk = "a message was being typed (text entry); ESC ended that, and sent nothing"
            if not await bench.link.resync():
                return fail(_silence(bench))
    if quirk:
        bench.note(quirk)
    await talk_plainly(bench.asker)
    bench.tap.heard = b""
    await bench.asker.ok("AT")
    if b"AT\r" in bench.tap.heard:
        bench.note("echo stays on after ATE0")
    identity = bench.findings.identity = await identify_modem(bench.asker)
    refused = await initialize(bench.asker, bench.settings.init)
    if refused:
        return warn(
            f"A {identity.name} answers AT, and does not take what init says: "
            f"{', '.join(refused)}. Correct init in [carriers.modem]; the modem is used all the "
            "same."
        )
    return ok(f"A {identity.name} answers AT.")


async def _hears(bench: Bench) -> bool:
    try:
        await bench.link.ask("AT", _WAKE_S)
    except NoAnswerError:
        return False
    return True


def _silence(bench: Bench) -> str:
    heard = bench.tap.heard
    siblings = bench.host.siblings(bench.port)
    other = f" The stick has other ports: {', '.join(siblings)}." if siblings else ""
    if is_tcp(bench.port):
        return _tcp_silence(bench, heard)
    if _POSITION in heard:
        return f"This port tells positions (GPS), and takes no commands.{other}"
    if heard and not heard.isascii():
        return f"What comes back makes no sense: another --baud (9600, 115200), or no modem.{other}"
    if b"AT" in heard:
        return (
            f"The port repeats what it is told and does not answer: no modem, or it hangs.{other}"
        )
    return (
        f"Nothing answers AT: another port of the same stick, another --baud (not on USB), or the "
        f"modem hangs and wants to be replugged.{other}"
    )


def _tcp_silence(bench: Bench, heard: bytes) -> str:
    what = "what it says is no answer to AT" if heard else "nothing there answers AT"
    return (
        f"{bench.port} takes the connection, but {what}: see that host and port are those of the "
        "modem (of ser2net, say), that its line is raw and at the modem's speed, that nobody else "
        "is connected to it, and that the modem is on."
    )


async def radio(bench: Bench) -> CheckVerdict:
    if not await radio_is_off(bench.asker):
        return ok("It is on.")
    bench.note("the radio was off (flight mode)")
    if await turn_radio_on(bench.asker):
        return warn("It was off (flight mode) and is on now; Risala does the same at each start.")
    return fail("It is off (flight mode), and AT+CFUN=1 is refused: see the SIM, and replug it.")


async def signal(bench: Bench) -> CheckVerdict:
    dbm = signal_dbm(first(await bench.asker.rows("AT+CSQ"), "+CSQ"))
    bench.findings.signal_dbm = dbm
    registration = bench.findings.registration
    if dbm is None:
        if registration is not None and registration.registered:
            return warn("The modem does not tell it, but is registered.")
        return fail("No signal: see the antenna, and put the modem elsewhere, at a window.")
    strength = Strength.of(dbm)
    text = f"{dbm} dBm, {strength.word}"
    if strength.bars <= WEAK_BARS:
        return warn(f"{text}: sends may fail; a better antenna or place helps.")
    return ok(f"{text}.")


# -- does it take messages ------------------------------------------------------------------------


async def pdu_mode(bench: Bench) -> CheckVerdict:
    taken = bench.findings.pdu_mode = await bench.asker.ok("AT+CMGF=0")
    if taken:
        return ok("The modem takes messages as PDUs.")
    return fail(
        "The modem has no PDU mode (AT+CMGF=0 is refused), which Risala sends in: another modem, "
        "or its newest firmware."
    )


async def storage(bench: Bench) -> CheckVerdict:
    asker, findings = bench.asker, bench.findings
    before = first(await asker.rows("AT+CPMS?"), "+CPMS")
    try:
        names, findings.storage = await choose_storage(asker, bench.settings.storage)
        for name in dict.fromkeys((*names, findings.storage)):
            usage = await _usage(bench, name) if name else None
            if usage is not None:
                findings.storages[name] = usage
    finally:
        if len(before) >= 9:
            await asker.ok(f'AT+CPMS="{before[0]}","{before[3]}","{before[6]}"')
    usage = findings.storages.get(findings.storage)
    if not findings.storage or usage is None:
        return warn("The modem tells of none: what comes in may be lost while Risala is stopped.")
    text = f"{findings.storage}: {usage.used} of {usage.total} places are taken"
    if usage.used >= usage.total:
        return _full(bench, text)
    if usage.is_tight:
        return warn(f"{text}: nearly full.{_emptied(bench)}")
    return ok(f"{text}.")


async def _usage(bench: Bench, name: str) -> Usage | None:
    answer = await bench.asker.try_(f'AT+CPMS="{name}"')
    if answer is None or not answer.result.ok:
        return None
    fields = first(answer.rows, "+CPMS")
    used, total = (number(text) for text in fields[:2]) if len(fields) > 1 else (None, None)
    return None if used is None or total is None else Usage(used, total)


def _full(bench: Bench, text: str) -> CheckVerdict:
    text = f"{text}: nothing more comes in, and some modems do not even send."
    if bench.settings.inbound:
        return warn(f"{text}{_emptied(bench)}")
    return fail(f"{text} With inbound = false nobody empties it: delete them.")


def _emptied(bench: Bench) -> str:
    return " `risala serve` stores and deletes them." if bench.settings.inbound else ""


async def receiving(bench: Bench) -> CheckVerdict:
    """Can the modem announce received messages? Tries the setting that the driver would choose, and
    restores the old one, since nobody will read this port afterwards."""
    asker, settings = bench.asker, bench.settings
    cnmi = first(await asker.rows("AT+CNMI?"), "+CNMI")
    csms = first(await asker.rows("AT+CSMS?"), "+CSMS")
    try:
        acknowledges = await asker.ok("AT+CSMS=1")
        if not acknowledges:
            await asker.ok("AT+CSMS=0")
        routing = bench.findings.routing = await choose_routing(
            asker, inbound=settings.inbound, reports=settings.reports, acknowledges=acknowledges
        )
    finally:
        if cnmi and all(number(field) is not None for field in cnmi):
            await asker.ok(f"AT+CNMI={','.join(cnmi)}")
        if csms and number(csms[0]) is not None:
            await asker.ok(f"AT+CSMS={csms[0]}")
    if routing.text:
        return ok(f"The modem announces what comes in (CNMI {routing.text}).")
    return warn("The modem takes no +CNMI: what comes in is found when the storage is looked at.")


async def status_reports(bench: Bench) -> CheckVerdict:
    routing = bench.findings.routing
    if not bench.settings.reports:
        return ok("They are not asked for (reports = false).")
    if routing is not None and routing.reports:
        return ok("The modem hands them on: messages become “delivered”.")
    return warn("The modem hands none on: messages stay “sent”, whether they arrive or not.")


async def callers(bench: Bench) -> CheckVerdict:
    """Does the network tell who calls? The question itself changes nothing (27.007 §7.11)."""
    if not bench.settings.calls:
        return ok("They are not reported (calls = false).")
    shown = first(await bench.asker.rows("AT+CLIP?", _NETWORK_S), "+CLIP")
    status = number(shown[1]) if len(shown) > 1 else None
    if status == 1:
        return ok("The network tells who calls: a missed call proves a number.")
    if status == 0:
        return warn(
            "The network hides who calls from this SIM, so that no missed call proves a number: ask"
            " its operator for caller identification (CLIP), or take inbound_sms."
        )
    return warn(
        "The modem does not say whether the network tells who calls: call it once, and see whether"
        " its trace has the end of your number."
    )
