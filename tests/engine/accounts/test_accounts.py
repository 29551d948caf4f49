"""Keys and organizations: cached for speed, and never a moment older than what the operator did."""

from __future__ import annotations

from contextlib import suppress

import pytest
import trio

from cases import first, sweep
from risala.engine.accounts import accounts as module
from risala.engine.accounts import last_uses
from risala.engine.features.hooks.registry import HookRegistry
from risala.engine.journal.messages import waiting
from risala.engine.journal.store import audit_log
from risala.engine.model.errors import Forbidden, Invalid, KeyExpired, NotFound, Unauthorized
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.model.times import iso

ALL = [pytest.param(True, id="inline"), pytest.param(False, id="thread")]
"""The journal has a thread of its own, as in the service: one test without ``long`` has it."""


@pytest.fixture(params=first(1, [True, False]), ids=["inline", "thread"])
async def house(request, open_house, autojump_clock):
    async with open_house(inline=request.param) as opened:
        yield opened


async def create(house, key_type=KeyType.SECRET, mode=Mode.LIVE):
    accounts = house.gateway.services.accounts
    return await accounts.create_key(house.principal.organization_id, key_type, mode, name="name")


@pytest.mark.parametrize(
    ("key_type", "mode", "prefix"),
    [
        (KeyType.SECRET, Mode.LIVE, "sk_live_"),
        (KeyType.PUBLISHABLE, Mode.LIVE, "pk_live_"),
        (KeyType.SECRET, Mode.TEST, "sk_test_"),
        (KeyType.PUBLISHABLE, Mode.TEST, "pk_test_"),
    ],
)
async def test_a_key_tells_who_asks(house, key_type, mode, prefix, autojump_clock):
    created = await create(house, key_type, mode)
    assert created.value.startswith(prefix)
    assert len(created.value) == len(prefix) + 32
    assert created.key.last4 == created.value[-4:]
    principal = house.gateway.authenticate(created.value)
    assert principal.organization_id == house.principal.organization_id
    assert (principal.key_id, principal.type, principal.mode) == (created.key.id, key_type, mode)


async def test_no_value_is_on_the_disk_or_made_twice(house, autojump_clock):
    values = [(await create(house)).value for _ in range(20)]
    assert len(set(values)) == 20
    dump = "".join(house.gateway.services.repositories._store.reader.iterdump())
    assert not any(value[8:] in dump for value in values)


@sweep(
    "value",
    ["", " ", "sk_live_", "sk_live_" + "x" * 32, "x" * 128, "x" * 129, "x" * 10_000, "é\0\ud800"],
)
async def test_what_is_no_key_is_refused(house, value, autojump_clock):
    with pytest.raises(Unauthorized):
        house.gateway.authenticate(value)


async def test_a_key_is_compared_exactly(house, autojump_clock):
    value = (await create(house)).value
    for other in (value.swapcase(), value[:-1], value + "x", f" {value}", value.upper()):
        with pytest.raises(Unauthorized):
            house.gateway.authenticate(other)


@pytest.mark.parametrize("house", ALL, indirect=True)
async def test_disable_enable_and_delete_count_at_once(house, autojump_clock):
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


async def test_a_suspension_counts_at_once_for_all_keys_and_no_others(house, autojump_clock):
    mine = [(await create(house)).value for _ in range(3)]
    other = await house.organization()
    theirs = await house.gateway.services.accounts.create_key(
        other.organization_id, KeyType.SECRET, Mode.LIVE, name=None
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


async def test_a_price_counts_at_once(house, autojump_clock):
    organization = {"organization_id": house.principal.organization_id}
    await house.send()
    await house.gateway.perform("org.set", {**organization, "price_per_segment": "2"})
    await house.send()
    assert await house.balance() == "997.50"


async def test_a_key_that_is_disabled_while_requests_ask_for_it_never_comes_back(
    house, autojump_clock
):
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


async def test_the_cache_is_bounded(house, monkeypatch, autojump_clock):
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
        await trio.sleep(last_uses.WRITE_EVERY_S + 1)
        first = await last_used()
        assert first is not None
        house.gateway.authenticate(created.value)
        assert await last_used() == first
    async with open_house() as house:
        (key,) = (await house.gateway.perform("key.list", organization))["keys"]
        assert key["lastUsedAt"] > first


async def test_a_refused_key_was_not_used(house, autojump_clock):
    created = await create(house)
    await house.gateway.perform("key.disable", {"key_id": created.key.id})
    with pytest.raises(Unauthorized):
        house.gateway.authenticate(created.value)
    await house.gateway.services.accounts.uses.write()
    organization = {"organization_id": house.principal.organization_id}
    (key,) = (await house.gateway.perform("key.list", organization))["keys"]
    assert (key["enabled"], key["lastUsedAt"]) == (False, None)


@pytest.mark.parametrize("name", ["", " \t ", "x" * 101])
async def test_names_are_checked(house, name, autojump_clock):
    with pytest.raises(Invalid):
        await house.gateway.perform("org.create", {"name": name})


async def test_names_are_folded_and_long_ones_of_keys_refused(house, autojump_clock):
    made = await house.gateway.perform("org.create", {"name": "  La   Poste\n"})
    assert made["name"] == "La Poste"
    arguments = {"organization_id": made["id"], "type": "secret", "name": "x" * 101}
    with pytest.raises(Invalid):
        await house.gateway.perform("key.create", arguments)
    with pytest.raises(NotFound):
        await house.gateway.perform(
            "key.create", {**arguments, "name": "x" * 100, "organization_id": "org_x"}
        )


async def rotate(house, key_id, **arguments):
    return await house.gateway.perform("key.rotate", {"key_id": key_id, **arguments})


async def test_a_rotated_key_has_two_values_for_a_while(house, autojump_clock, leap):
    created = await create(house)
    old, key_id = created.value, created.key.id
    house.gateway.authenticate(old)
    made = await rotate(house, key_id, overlap_s=3600)
    assert made["key"]["id"] == key_id
    assert made["key"]["last4"] == made["value"][-4:]
    assert made["key"]["oldLast4"] == old[-4:]
    for value in (old, made["value"]):
        assert house.gateway.authenticate(value).key_id == key_id
    # Far from both ends: while the writer's thread works, the clock jumps to whatever is next.
    await trio.sleep(1800)
    house.gateway.authenticate(old)
    await leap(3600)
    with pytest.raises(Unauthorized, match="rotated"):
        house.gateway.authenticate(old)
    house.gateway.authenticate(made["value"])
    (listed,) = house.gateway.services.accounts.list_keys(house.principal.organization_id)
    assert (listed.old_last4, listed.old_until) == (None, None)


async def test_a_value_that_leaked_ends_at_once(house, autojump_clock):
    created = await create(house)
    house.gateway.authenticate(created.value)
    made = await rotate(house, created.key.id, overlap_s=0)
    with pytest.raises(Unauthorized):
        house.gateway.authenticate(created.value)
    later = await rotate(house, created.key.id)
    house.gateway.authenticate(made["value"])
    await house.gateway.perform("key.end_old", {"key_id": created.key.id})
    with pytest.raises(Unauthorized):
        house.gateway.authenticate(made["value"])
    house.gateway.authenticate(later["value"])


async def test_of_three_values_the_oldest_is_over(house, autojump_clock):
    created = await create(house)
    second = (await rotate(house, created.key.id))["value"]
    third = (await rotate(house, created.key.id))["value"]
    with pytest.raises(Unauthorized):
        house.gateway.authenticate(created.value)
    for value in (second, third):
        house.gateway.authenticate(value)


async def test_an_old_value_is_disabled_with_its_key_and_deleted_with_it(house, autojump_clock):
    created = await create(house)
    await rotate(house, created.key.id)
    house.gateway.authenticate(created.value)
    await house.gateway.perform("key.disable", {"key_id": created.key.id})
    with pytest.raises(Unauthorized, match="disabled"):
        house.gateway.authenticate(created.value)
    await house.gateway.perform("key.delete", {"key_id": created.key.id})
    with pytest.raises(Unauthorized):
        house.gateway.authenticate(created.value)


@pytest.mark.parametrize("overlap_s", [-1, 7 * 86_400 + 1, "1", True])
async def test_an_old_value_holds_for_a_week_at_most(house, overlap_s, autojump_clock):
    created = await create(house)
    with pytest.raises(Invalid):
        await rotate(house, created.key.id, overlap_s=overlap_s)
    await rotate(house, created.key.id, overlap_s=7 * 86_400)


async def test_addresses_count_from_the_next_request_on(house, autojump_clock):
    created = await create(house)
    assert house.gateway.authenticate(created.value).allowed_addresses is None
    given = {"key_id": created.key.id, "allowed_addresses": ["203.0.113.7", "2001:db8:7::/48"]}
    changed = await house.gateway.perform("key.set", given)
    assert changed["allowedAddresses"] == given["allowed_addresses"]
    found = house.gateway.authenticate(created.value).allowed_addresses
    assert [str(each) for each in found] == ["203.0.113.7/32", "2001:db8:7::/48"]
    # What is not given stays; null lifts it.
    await house.gateway.perform("key.show", {"key_id": created.key.id})
    assert house.gateway.authenticate(created.value).allowed_addresses is not None
    given = {"key_id": created.key.id, "allowed_addresses": None}
    await house.gateway.perform("key.set", given)
    assert house.gateway.authenticate(created.value).allowed_addresses is None


async def test_a_clock_set_back_does_not_lengthen_an_old_value(house, autojump_clock):
    created = await create(house)
    await rotate(house, created.key.id, overlap_s=3600)
    journal, accounts = house.gateway.services.recorder.journal, house.gateway.services.accounts
    before = accounts.key(created.key.id).old_until
    now_ms = house.gateway.services.recorder.clock.now_ms()
    await journal.commit(lambda conn: waiting.follow(conn, 600_000, now_ms - 600_000))
    assert accounts.key(created.key.id).old_until == before - 600_000


async def test_a_contact_is_one_short_line_and_stands_in_the_trail(house, autojump_clock):
    created = await create(house)
    given = {"key_id": created.key.id, "contact": "  Aïcha,  36 12 34 56 "}
    changed = await house.gateway.perform("key.set", given)
    assert changed["contact"] == "Aïcha, 36 12 34 56"
    (line, *_) = audit_log.lines(house.gateway.services.repositories._store.reader, 1)
    assert line.action == "key.set"
    assert line.after is not None
    assert line.after["contact"] == "Aïcha, 36 12 34 56"
    with pytest.raises(Invalid):
        await house.gateway.perform("key.set", {**given, "contact": "a" * 81})
    await house.gateway.perform("key.set", {**given, "contact": None})
    assert house.gateway.services.accounts.key(created.key.id).contact is None


async def test_an_expired_key_is_refused_until_it_gets_a_later_time(house, autojump_clock):
    clock = house.gateway.services.recorder.clock
    created = await create(house)
    given = {"key_id": created.key.id, "expires_at": iso(clock.now_ms() + 3_600_000)}
    house.gateway.authenticate(created.value)
    changed = await house.gateway.perform("key.set", given)
    assert changed["expiresAt"] == given["expires_at"]
    (line, *_) = audit_log.lines(house.gateway.services.repositories._store.reader, 1)
    assert line.after["expiresAt"] == given["expires_at"]
    await trio.sleep(3000)
    house.gateway.authenticate(created.value)
    # The key is in memory: it is its expiry that refuses it, not a change.
    await trio.sleep(600)
    with pytest.raises(KeyExpired):
        house.gateway.authenticate(created.value)
    # Another value does not lengthen it; the old one tells the truth too.
    rotated = await rotate(house, created.key.id, overlap_s=3600)
    for value in (created.value, rotated["value"]):
        with pytest.raises(KeyExpired):
            house.gateway.authenticate(value)
    with pytest.raises(Invalid, match="in the future"):
        await house.gateway.perform("key.set", given)
    await house.gateway.perform("key.set", {**given, "expires_at": None})
    house.gateway.authenticate(rotated["value"])


async def test_a_new_key_may_have_its_end(house, autojump_clock):
    clock = house.gateway.services.recorder.clock
    asked = {"organization_id": house.principal.organization_id, "type": "secret"}
    with pytest.raises(Invalid, match="in the future"):
        await house.gateway.perform("key.create", {**asked, "expires_at": iso(clock.now_ms())})
    at = iso(clock.now_ms() + 60_000)
    made = await house.gateway.perform("key.create", {**asked, "expires_at": at})
    assert made["key"]["expiresAt"] == at
    await trio.sleep(60)
    with pytest.raises(KeyExpired):
        house.gateway.authenticate(made["value"])


async def test_the_last_address_is_that_of_a_server(house, autojump_clock):
    accounts = house.gateway.services.accounts
    secret, public = await create(house), await create(house, KeyType.PUBLISHABLE)
    for address in ("203.0.113.7", "2001:db8::7"):
        for each in (secret, public):
            house.gateway.authenticate(each.value, address)
    await accounts.uses.write()
    assert accounts.key(secret.key.id).last_used_address == "2001:db8::7"
    assert accounts.key(secret.key.id).last_used_at is not None
    # Visitors' addresses are theirs.
    assert accounts.key(public.key.id).last_used_address is None


async def test_the_last_use_of_a_hook_outlives_a_stop(open_house, quick):
    async with open_house() as house:
        organization = {"organization_id": house.principal.organization_id}
        made = await house.gateway.perform("hook.create", {**organization, "preset": "keycloak"})
        house.gateway.services.part(HookRegistry).used(made["hook"]["id"])
    async with open_house() as house:
        (hook,) = (await house.gateway.perform("hook.list", organization))["hooks"]
        assert hook["lastUsedAt"] is not None
