"""Who may bind, from where, how often."""

import trio
from structlog.testing import capture_logs

from risala.engine.model.errors import AddressNotAllowed, Draining, Forbidden


async def test_a_wrong_password_is_counted_answered_and_the_end(open_premises):
    premises = open_premises()
    async with premises.customer() as customer:
        assert (await customer.bind(password="wrong")).command_status == 0x0E
        await customer.link.wait_ended()
    assert premises.guard.failed == ["192.0.2.7"]
    assert premises.roster.counts.binds == {0x0E: 1}


async def test_a_right_password_that_does_not_let_in_fails(open_premises):
    premises = open_premises()
    for refusal, status in (
        (Forbidden("The organization is not active."), 0x0D),
        (AddressNotAllowed("192.0.2.7"), 0x0D),
        (Draining(), 0x08),
    ):
        premises.refuses = refusal
        async with premises.customer() as customer:
            assert (await customer.bind()).command_status == status
    assert premises.guard.failed == []


async def test_binds_of_one_address_are_limited_whatever_the_name(autojump_clock, open_premises):
    premises = open_premises(binds_per_minute=3)
    statuses = []
    for number in range(5):
        async with premises.customer() as customer:
            answer = await customer.bind(f"name{number}", password="wrong")
            statuses.append(answer.command_status)
    async with premises.customer(peer="192.0.2.8") as customer:
        statuses.append((await customer.bind("name9")).command_status)
    assert statuses == [0x0E, 0x0E, 0x0E, 0x0D, 0x0D, 0]


async def test_binds_of_a_name_are_limited_but_from_its_owners_place(autojump_clock, open_premises):
    premises = open_premises(binds_per_minute=3)
    async with premises.customer(peer="192.0.2.1") as owner:
        await owner.bind()
    statuses = []
    for number in range(4):
        async with premises.customer(peer=f"198.51.100.{number}") as stranger:
            answer = await stranger.bind(password="wrong")
            statuses.append(answer.command_status)
    assert statuses == [0x0E, 0x0E, 0x0D, 0x0D]
    async with premises.customer(peer="192.0.2.1") as owner:
        assert (await owner.bind()).command_status == 0


async def test_a_credential_has_so_many_sessions_and_no_more(open_premises):
    premises = open_premises(sessions_per_credential_max=2)
    async with (
        premises.customer() as first,
        premises.customer() as second,
        premises.customer() as third,
        premises.customer() as other,
    ):
        statuses = [(await each.bind()).command_status for each in (first, second, third)]
        statuses.append((await other.bind("another")).command_status)
    assert statuses == [0, 0, 0x05, 0]


async def test_a_name_beyond_what_the_protocol_has_is_nobodys_and_not_kept_whole(open_premises):
    premises = open_premises()
    for _ in range(2):
        async with premises.customer() as customer:
            answer = await customer.bind("x" * 5000, password="wrong")
            assert answer.command_status == 0x0E
    assert premises.asked_for == ["x" * 16] * 2


async def test_a_flood_of_refused_binds_is_no_flood_of_lines(open_premises, autojump_clock):
    premises = open_premises()
    with capture_logs() as lines:
        for _ in range(20):
            async with premises.customer() as customer:
                await customer.bind(password="wrong")
        await trio.sleep(2)
        async with premises.customer() as customer:
            await customer.bind(password="wrong")
    refused = [line for line in lines if line["event"] == "smpp_server.bind_refused"]
    assert [line["unsaid"] for line in refused] == [0, 19]
    assert "wrong" not in str(lines)
