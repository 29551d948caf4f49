"""A start with other carriers than before, as a service does it: the writer has its own thread."""

from __future__ import annotations

from risala.engine.delivery import sorter

QUEUED = 150
"""Ten times the steps that a start takes."""


async def test_what_waits_is_sorted_anew(open_house, carrier):
    async with open_house(inline=False) as house:
        house.engine._board.stop_leasing()
        message_id = await house.send()
    other = carrier("other", prefixes=["+2223"])
    async with open_house(other, inline=False) as house:
        await house.wait_status(message_id, "sent")
        assert house.gateway.show_message(message_id)[0].carrier == "other"


async def test_nobody_waits_for_a_long_queue_to_be_sorted(open_house, carrier, quick, monkeypatch):
    monkeypatch.setattr(sorter, "ROWS_AT_ONCE", 1)
    async with open_house() as house:
        house.engine._board.stop_leasing()
        message_ids = [await house.send() for _ in range(QUEUED)]
    other = carrier("other", prefixes=["+2223"])
    async with open_house(other) as house:
        read = house.gateway.services.repositories._store.reader.execute
        unsorted = "SELECT count(*) FROM messages WHERE status = 'pending' AND route = '+222'"
        assert 0 < read(unsorted).fetchone()[0] <= QUEUED
        for message_id in message_ids:
            await house.wait_status(message_id, "sent")
