"""Keys work for a limited time by a rule: new ones get their end, older ones a date, none is cut
off without warning. And where each was used is kept, for a while."""

from __future__ import annotations

import pytest

from risala.engine.accounts.key_upkeep import LOOK_EVERY_S
from risala.engine.accounts.last_uses import NOTED_MAX, UsedPlaces
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.journal.accounts.keys import PLACES_KEPT_MS, PLACES_MAX
from risala.engine.model.errors import Invalid, KeyExpired
from risala.engine.model.times import iso
from risala.engine.rules.people.key_age import DAY_MS, GRACE_MS

OWNER = "owner@example.com"
HOME, ELSEWHERE = "203.0.113.7", "198.51.100.9"


async def shop(town):
    organization = await town.do("org.create", name="Shop")
    await town.do("user.create", email=OWNER, language="en")
    of_it = {"organization_id": organization["id"]}
    await town.do("member.add", **of_it, email=OWNER, role="owner")
    return of_it


def pass_days(town, days: float) -> None:
    town.pass_s(int(days * DAY_MS / 1000))


async def listed(town, of_it):
    (key,) = (await town.do("key.list", **of_it))["keys"]
    return key


async def test_new_keys_get_an_end_and_another_value_begins_anew(town, autojump_clock):
    of_it = await shop(town)
    await town.do("org.set", **of_it, key_age_days=90)
    now_ms = town.clock.now_ms()
    made = await town.do("key.create", **of_it, type="secret")
    key_id = made["key"]["id"]
    assert made["key"]["expiresAt"] == iso(now_ms + 90 * DAY_MS)
    later = iso(now_ms + 91 * DAY_MS)
    with pytest.raises(Invalid, match="90 more days"):
        await town.do("key.create", **of_it, type="secret", expires_at=later)
    with pytest.raises(Invalid, match="90 more days"):
        await town.do("key.set", key_id=key_id, expires_at=later)
    pass_days(town, 89.5)
    rotated = await town.do("key.rotate", key_id=key_id, overlap_s=86_400)
    assert rotated["key"]["oldUntil"] == made["key"]["expiresAt"]  # not a day longer than it may
    pass_days(town, 1)
    assert town.gateway.authenticate(rotated["value"])
    pass_days(town, 89)
    with pytest.raises(KeyExpired):
        town.gateway.authenticate(rotated["value"])


async def test_an_old_key_gets_a_date_of_which_owners_are_told(town, autojump_clock, leap):
    of_it = await shop(town)
    made = await town.do("key.create", **of_it, type="secret", name="Till")
    pass_days(town, 400)
    await town.do("org.set", **of_it, key_age_days=365)
    date = iso(town.clock.now_ms() + GRACE_MS)
    assert (await listed(town, of_it))["expiresAt"] == date
    (line,) = town.rows("SELECT action, subject FROM audit_log WHERE action = 'key.aged'")
    assert line[1] == made["key"]["id"]
    for days in (17, 10.5, 2):
        pass_days(town, days)
        await leap(LOOK_EVERY_S + 60)
    await town.posted()
    assert (await listed(town, of_it))["expiresAt"] == date  # looking again moves nothing
    assert len([each for each in town.mails.to(OWNER) if "expires soon" in each.subject]) == 3
    await town.do("org.set", **of_it, key_age_days=None)
    await town.do("key.set", key_id=made["key"]["id"], expires_at=None)
    assert (await listed(town, of_it))["expiresAt"] is None


async def test_the_service_s_own_rule_is_the_upper_bound(town, autojump_clock, leap):
    of_it = await shop(town)
    await town.do("key.create", **of_it, type="secret")
    pass_days(town, 10)
    accounts = town.gateway.services.accounts
    assert await accounts.date_old_keys() is None
    assert (await listed(town, of_it))["expiresAt"] is None
    accounts._key_age_days = 60
    made_ms = town.clock.now_ms() - 10 * DAY_MS
    await leap(LOOK_EVERY_S + 1)
    assert (await listed(town, of_it))["expiresAt"] == iso(made_ms + 60 * DAY_MS)
    await town.do("org.set", **of_it, key_age_days=365)
    assert (await town.do("key.list", **of_it))["ageDays"] == 60


async def test_places_are_networks_and_one_that_comes_later_is_new(town, autojump_clock, leap):
    of_it = await shop(town)
    made = await town.do("key.create", **of_it, type="secret", name="Till")
    accounts = town.gateway.services.accounts

    async def used(address: str) -> None:
        accounts.authenticate(made["value"], address)
        await accounts.places.write()

    for address in (HOME, "203.0.113.8", "198.51.100.1"):
        await used(address)
    pass_days(town, 2)
    accounts.authenticate(made["value"], "192.0.2.1")  # and its owner at once afterwards
    await used(HOME)
    places = (await town.do("key.places", key_id=made["key"]["id"]))["places"]
    found = {each["network"]: each["isNew"] for each in places}
    assert found == {"203.0.113.0/24": False, "198.51.100.0/24": False, "192.0.2.0/24": True}
    shown = await town.do("security.show")
    assert [each["network"] for each in shown["newPlaces"]] == ["192.0.2.0/24"]
    for each in range(PLACES_MAX + 5):
        await used(f"10.0.{each}.1")
    assert town.rows("SELECT count(*) FROM key_places") == [(PLACES_MAX,)]
    pass_days(town, PLACES_KEPT_MS / DAY_MS + 1)
    await leap(LOOK_EVERY_S + 1)
    assert town.rows("SELECT count(*) FROM key_places") == [(0,)]


async def test_a_deleted_key_leaves_no_places(town, autojump_clock):
    made = await town.do("key.create", **await shop(town), type="secret")
    accounts = town.gateway.services.accounts
    accounts.authenticate(made["value"], HOME)
    await accounts.places.write()
    accounts.authenticate(made["value"], ELSEWHERE)
    await town.do("key.delete", key_id=made["key"]["id"])
    await accounts.places.write()
    assert town.rows("SELECT count(*) FROM key_places") == [(0,)]


async def test_places_in_memory_are_bounded():
    stored = []

    async def write(places) -> None:
        stored.append(places)

    places = UsedPlaces(write, SetAsideItems().loop("uses"))
    for each in range(NOTED_MAX + 10):
        places.note("key_1", f"2001:db8:{each:x}::1", each)
    places.note("key_1", "2001:db8:0::1", 7)
    await places.write()
    await places.write()
    assert len(stored) == 1
    assert len(stored[0]) == NOTED_MAX
    assert stored[0]["key_1", "2001:db8::/48"] == 7
