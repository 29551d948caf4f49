"""Modems under the real engine and its real journal."""

from itertools import count

import pytest
import trio

from risala.drivers.modem.tpdu.pdu import Direction, from_hex
from risala.engine.model.sentences import sentence
from risala.sms.segment import split, user_data_header


async def test_what_a_modem_must_not_forget_is_in_the_journal(
    autojump_clock, new_modem, new_line, open_service, deliver_pdu
):
    """Parts of a long message and the day's quota: the second service knows them."""
    modem, text = new_modem(), "long text " * 40
    cut = split(text)
    pdus = [
        deliver_pdu(part, header=user_data_header(9, len(cut), number))
        for number, part in enumerate(cut, 1)
    ]
    limits = {"segments_per_day_max": 2, "recipients_per_month_max": 5}
    async with open_service({"sim-1": new_line(modem, **limits)}) as service:
        await service.wait_status(await service.send(), "delivered")
        for pdu in pdus[:2]:
            await modem.receive_sms(pdu)
        await trio.sleep(1)
        assert modem.storage == {}
        assert service.inbound() == []
    async with open_service({"sim-1": new_line(modem, **limits)}) as service:
        await modem.receive_sms(pdus[2])
        await trio.sleep(1)
        assert service.inbound() == [text]
        await service.wait_status(await service.send(), "delivered")
        waiting = await service.send()
        await trio.sleep(60)
        assert service.status(waiting) == "pending"
        assert "used up" in service.carrier("sim-1")["text"]
        assert len(modem.submits) == 2


class Network:
    """Refuses numbers by a code, and takes the others."""

    def __init__(self, modem, refused: dict[str, str]) -> None:
        self.refused, self.references, self.asked = refused, count(1), []
        modem.cmgs = self.answer

    def answer(self, pdu: str) -> str:
        _, submit = from_hex(pdu, Direction.TO_NETWORK)
        number = submit.destination.readable
        self.asked.append(number)
        return self.refused.get(number, f"+CMGS: {next(self.references)}\r\n\r\nOK")


@pytest.mark.parametrize(
    ("code", "is_open"), [(27, False), (1, False), (30, False), (195, False), (38, True)]
)
async def test_numbers_that_cannot_be_reached_are_no_sickness_of_the_carrier(
    autojump_clock, new_modem, new_line, open_service, code, is_open
):
    modem = new_modem()
    dead = [f"+2223600000{number}" for number in range(6)]
    network = Network(modem, dict.fromkeys(dead, f"+CMS ERROR: {code}"))
    delivery = {"breaker_failures": 5, "breaker_open_s": 3600}
    async with open_service({"sim-1": new_line(modem)}, delivery, rate_per_s=1) as service:
        ids = [await service.send(to=number) for number in dead]
        await trio.sleep(20)
        assert len(network.asked) >= 5
        assert service.carrier("sim-1")["breaker_open"] is is_open
        alive = await service.send()
        await trio.sleep(20)
        assert service.status(alive) == ("pending" if is_open else "sent")
        assert service.status(ids[0]) == ("pending" if code in (27, 38) else "failed")


@pytest.mark.slow
async def test_a_report_proves_an_uncertain_send_also_after_a_restart(
    autojump_clock, new_modem, new_line, open_service
):
    """Else it would be sent twice: the policy sends again what nobody answered."""
    modem = new_modem()
    policy = {"on_uncertain_message": {"action": "resend", "after_s": 3600}}
    bodies = []
    modem.cmgs = bodies.append  # and no word
    async with open_service({"sim-1": new_line(modem)}, **policy) as service:
        message_id = await service.send()
        await trio.sleep(100)
        assert service.status(message_id) == "processing"
    modem.cmgs = None
    async with open_service({"sim-1": new_line(modem)}, **policy) as service:
        await trio.sleep(30)
        await modem.report(44, "+22236123456")
        await service.wait_status(message_id, "delivered")
        await trio.sleep(2 * 3600)
        assert len(bodies) == 1
        assert modem.submits == []


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ("+CMS ERROR: 332", "+CMS ERROR: 332", "the network did not acknowledge it in time."),
        (None, None, "then the modem gave no answer within 60 s."),
    ],
)
async def test_what_nobody_found_out_ends_with_the_last_word(
    autojump_clock, new_modem, new_line, open_service, answer, code, words
):
    modem = new_modem()
    modem.cmgs = lambda _: answer
    async with open_service({"sim-1": new_line(modem)}) as service:
        message_id = await service.send()
        await service.wait_status(message_id, "failed")
        view, lines = service.engine.gateway.show_message(message_id)
    told = sentence(lines[-1])
    assert (view.error_code, view.carrier_code) == ("UNCERTAIN", code)
    assert words in told
    assert told.endswith("it may have been delivered. Refunded.")
