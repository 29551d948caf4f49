"""A word that a user texts to a modem comes in whole, with its number, whatever the modem.

The lines are those that public programs for modems write down of theirs, with numbers of ours: an
A9G of Ai-Thinker (``+CIEV: "MESSAGE",1`` before ``+CMT: ,24``), a Telit (``+CMT: "",22``) and a
Quectel (``+CMT: ,51`` and one CR) in pmoerenhout/atcommander, a SIM800 in mgaman/PDUlib
(``+CMT: "",27``), a modem that names whom the card knows (3GPP TS 27.005 §3.4.1, ``<alpha>``), two
at once with CR alone in gammu's tests, and one that leaves out the service centre in
warthog618/modem (the PDU begins with ``00``).
"""

from __future__ import annotations

import pytest
import trio

from risala.engine.features.reverse.rules import words_in

WORD = "7K3MX9QD"
WRITER = "+22236123456"
SMSC_OCTETS = 8
"""Of the service centre, before the octets that the header counts."""


def header(form: str, pdu: str) -> str:
    return form.format(octets=len(pdu) // 2 - SMSC_OCTETS, pdu=pdu)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param('+CIEV: "MESSAGE",1\r\n\r\n+CMT: ,{octets}\r\n{pdu}', id="A9G"),
        pytest.param('+CMT: "",{octets}\r\n{pdu}', id="Telit, SIM800"),
        pytest.param("+CMT: ,{octets}\r{pdu}", id="Quectel"),
        pytest.param('+CMT: "Nour",{octets}\r\n{pdu}', id="a name of the card"),
        pytest.param("+CMT: ,{octets}\r\n{pdu}\r\nRING", id="and a call"),
    ],
)
@pytest.mark.parametrize(
    "text", [f"Demo {WORD}", f"متجر {WORD}", f"Fwd: demo {WORD.lower()}\n-- \nNour"]
)
async def test_a_word_comes_in_as_a_modem_hands_it_on(
    autojump_clock, modem, new_line, deliver_pdu, form, text
):
    async with new_line(modem).run() as line:
        await modem.say(header(form, deliver_pdu(text, WRITER)))
        await line.context.wait_until(lambda it: bool(it.inbounds))
        (came,) = line.context.inbounds
        assert (came.sender, came.text) == (WRITER, text)
        assert words_in(came.text)[0] == WORD
        await trio.sleep(1)
        assert modem.count("AT+CNMA") == 1


async def test_a_word_without_its_service_centre_comes_in(
    autojump_clock, modem, new_line, deliver_pdu
):
    async with new_line(modem).run() as line:
        pdu = "00" + deliver_pdu(f"Demo {WORD}", WRITER)[2 * SMSC_OCTETS :]
        await modem.say(f"+CMT: ,{len(pdu) // 2 - 1}\r\n{pdu}")
        await line.context.wait_until(lambda it: bool(it.inbounds))
        assert line.context.inbounds[0].sender == WRITER


async def test_two_words_at_once_are_each_of_their_number(
    autojump_clock, modem, new_line, deliver_pdu
):
    """As a modem hands on what waited, here with CR alone between the lines."""
    other = "+22246123401"
    async with new_line(modem).run() as line:
        first, second = deliver_pdu(f"Demo {WORD}", WRITER), deliver_pdu("Demo 00000000", other)
        lines = [header("+CMT: ,{octets}\r{pdu}", each) for each in (first, second)]
        await modem.say("\r".join(lines))
        await line.context.wait_until(lambda it: len(it.inbounds) == 2)
        came = [(each.sender, words_in(each.text)) for each in line.context.inbounds]
        assert came == [(WRITER, [WORD]), (other, ["00000000"])]
