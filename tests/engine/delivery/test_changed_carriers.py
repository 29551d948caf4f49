"""A start with other carriers than before, as a service does it: the writer has its own thread."""

from __future__ import annotations


async def test_what_waits_is_sorted_anew(open_house, carrier):
    async with open_house(inline=False) as house:
        house.engine._board.stop_leasing()
        message_id = await house.send()
    other = carrier("other", prefixes=["+2223"])
    async with open_house(other, inline=False) as house:
        await house.wait_status(message_id, "sent")
        assert house.gateway.show_message(message_id)[0].carrier == "other"
