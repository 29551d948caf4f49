"""Long messages are cut for a wide reference, if that has room."""

LONG = "x" * 200


async def test_the_driver_is_told_how_wide_a_reference_has_room(open_house, quick):
    async with open_house() as house:
        for body in (LONG, "y" * 306, "z"):
            await house.wait_status(await house.send(body), "sent")
        told = [(len(part.text), part.reference_bits) for part in house.driver.submitted]
        assert told == [(152, 16), (48, 16), (153, 8), (153, 8), (1, 16)]
