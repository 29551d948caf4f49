"""Keys and organizations: cached for speed, and never a moment older than what the operator did."""

from __future__ import annotations

from contextlib import suppress

import pytest
import trio

from risala.engine.accounts import accounts as module
from risala.engine.model.commands import KeyType, Mode
from risala.engine.model.errors import Forbidden, Invalid, NotFound, Unauthorized


@pytest.fixture(params=[True, False], ids=["inline", "thread"])
async def house(request, open_house, autojump_clock):
    async with open_house(inline=request.param) as opened:
        yield opened


async def create(house, key_type=KeyType.SECRET, mode=Mode.LIVE):
    accounts = house.gateway.services.accounts
    return await accounts.create_key(house.principal.organization_id, key_type, mode, "name")


@pytest.mark.parametrize(
    ("key_type", "mode", "prefix"),
    [
        (KeyType.SECRET, Mode.LIVE, "sk_live_"),
        (KeyType.PUBLISHABLE, Mode.LIVE, "pk_live_"),
        (KeyType.SECRET, Mode.TEST, "sk_test_"),
        (KeyType.PUBLISHABLE, Mode.TEST, "pk_test_"),
    ],
)
async def test_a_key_tells_who_asks(house, key_type, mode, prefix):
    created = await create(house, key_type, mode)
    assert created.value.startswith(prefix)
    assert len(created.value) == len(prefix) + 32
    assert created.key.last4 == created.value[-4:]
    principal = house.gateway.authenticate(created.value)
    assert principal.organization_id == house.principal.organization_id
    assert (principal.key_id, principal.type, principal.mode) == (created.key.id, key_type, mode)


async def test_no_value_is_on_the_disk_or_made_twice(house):
    values = [(await create(house)).value for _ in range(20)]
    assert len(set(values)) == 20
    dump = "".join(house.gateway.services.reader.iterdump())
    assert not any(value[8:] in dump for value in values)


@pytest.mark.parametrize(
    "value",
    ["", " ", "sk_live_", "sk_live_" + "x" * 32, "x" * 128, "x" * 129, "x" * 10_000, "é\0\ud800"],
)
async def test_what_is_no_key_is_refused(house, value):
    with pytest.raises(Unauthorized):
        house.gateway.authenticate(value)


async def test_a_key_is_compared_exactly(house):
    value = (await create(house)).value
    for other in (value.swapcase(), value[:-1], value + "x", f" {value}", value.upper()):
        with pytest.raises(Unauthorized):
            house.gateway.authenticate(other)


async def test_disable_enable_and_delete_count_at_once(house):
    created = await create(house)
    for _ in range(2):
        house.gateway.authenticate(created.value)
        await house.gateway.perform("key.disable", {"key_id": created.key.id})
        with pytest.raises(Unauthorized, match="disabled"):
            house.gateway.authenticate(created.value)
        await house.gateway.perform("key.enable", {"key_id": created.key.id})
    house.gateway.authenticate(created.value)
    await house.gateway.perform("key.delete", {"key_id": created.key.id})
    with pytest.raises(Unauthorized):
        house.gateway.authenticate(created.value)
    for operation in ("key.enable", "key.disable", "key.delete"):
        with pytest.raises(NotFound):
            await house.gateway.perform(operation, {"key_id": created.key.id})


async def test_a_suspension_counts_at_once_for_all_keys_and_no_others(house):
    mine = [(await create(house)).value for _ in range(3)]
    other = await house.organization()
    theirs = await house.gateway.services.accounts.create_key(
        other.organization_id, KeyType.SECRET, Mode.LIVE, None
    )
    organization = {"organization_id": house.principal.organization_id}
    for value in (*mine, theirs.value):
        house.gateway.authenticate(value)
    await house.gateway.perform("org.suspend", organization)
    for value in mine:
        with pytest.raises(Forbidden):
            house.gateway.authenticate(value)
    house.gateway.authenticate(theirs.value)
    await house.gateway.perform("org.resume", organization)
    for value in mine:
        house.gateway.authenticate(value)


async def test_a_price_counts_at_once(house):
    organization = {"organization_id": house.principal.organization_id}
    await house.send()
    await house.gateway.perform("org.set", {**organization, "price_per_segment": "2"})
    await house.send()
    assert await house.balance() == "997.50"


async def test_a_key_that_is_disabled_while_requests_ask_for_it_never_comes_back(house):
    """The cache may not keep what it read before the change became durable."""
    created = await create(house)

    async def change(name):
        await house.gateway.perform(name, {"key_id": created.key.id})

    for _ in range(20):
        house.gateway.authenticate(created.value)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(change, "key.disable")
            for _ in range(5):
                await trio.lowlevel.checkpoint()
                with suppress(Unauthorized):
                    house.gateway.authenticate(created.value)
        with pytest.raises(Unauthorized):
            house.gateway.authenticate(created.value)
        await change("key.enable")


async def test_the_cache_is_bounded(house, monkeypatch):
    monkeypatch.setattr(module, "KEYS_CACHED_MAX", 3)
    values = [(await create(house)).value for _ in range(8)]
    for value in values * 2:
        house.gateway.authenticate(value)
    accounts = house.gateway.services.accounts
    assert len(accounts._keys) <= 3
    for _ in range(6):
        other = await house.organization()
        accounts.organization(other.organization_id)
    assert len(accounts._organizations) <= 3


async def test_last_used_is_written_down_from_time_to_time_and_at_the_end(open_house, quick):
    async with open_house() as house:
        created = await create(house)
        organization = {"organization_id": house.principal.organization_id}

        async def last_used():
            (key,) = (await house.gateway.perform("key.list", organization))["keys"]
            return key["lastUsedAt"]

        assert await last_used() is None
        house.gateway.authenticate(created.value)
        with pytest.raises(Unauthorized):
            house.gateway.authenticate("unknown")
        await trio.sleep(module.TOUCH_EVERY_S + 1)
        first = await last_used()
        assert first is not None
        house.gateway.authenticate(created.value)
        assert await last_used() == first
    async with open_house() as house:
        (key,) = (await house.gateway.perform("key.list", organization))["keys"]
        assert key["lastUsedAt"] > first


async def test_a_refused_key_was_not_used(house):
    created = await create(house)
    await house.gateway.perform("key.disable", {"key_id": created.key.id})
    with pytest.raises(Unauthorized):
        house.gateway.authenticate(created.value)
    await house.gateway.services.accounts.flush_touched()
    organization = {"organization_id": house.principal.organization_id}
    (key,) = (await house.gateway.perform("key.list", organization))["keys"]
    assert (key["enabled"], key["lastUsedAt"]) == (False, None)


@pytest.mark.parametrize("name", ["", " \t ", "x" * 101])
async def test_names_are_checked(house, name):
    with pytest.raises(Invalid):
        await house.gateway.perform("org.create", {"name": name})


async def test_names_are_folded_and_long_ones_of_keys_refused(house):
    made = await house.gateway.perform("org.create", {"name": "  La   Poste\n"})
    assert made["name"] == "La Poste"
    arguments = {"organization_id": made["id"], "type": "secret", "name": "x" * 101}
    with pytest.raises(Invalid):
        await house.gateway.perform("key.create", arguments)
    with pytest.raises(NotFound):
        await house.gateway.perform(
            "key.create", {**arguments, "name": "x" * 100, "organization_id": "org_x"}
        )
