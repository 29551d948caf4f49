"""Modems under the real engine and its real journal."""

import trio

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
