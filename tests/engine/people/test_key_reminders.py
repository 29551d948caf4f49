"""Owners are told before a key expires: fourteen days before, three, and on the last day."""

from __future__ import annotations

from risala.engine.accounts.key_upkeep import LOOK_EVERY_S
from risala.engine.model.times import iso

OWNER = "owner@example.com"
DAY_S = 86_400


async def wait(town, leap, days: float) -> None:
    town.pass_s(int(days * DAY_S))
    await leap(LOOK_EVERY_S + 60)


async def key_that_lasts(town, days: int, *, since: int = 0):
    organization = await town.do("org.create", name="Shop")
    shop = {"organization_id": organization["id"]}
    await town.do("user.create", email=OWNER, language="fr")
    await town.do("member.add", **shop, email=OWNER, role="owner")
    now_ms = town.gateway.services.recorder.clock.now_ms()
    expires = {"expires_at": iso(now_ms + days * DAY_S * 1000)}
    made = await town.do("key.create", **shop, type="secret", name="Caisse", **expires)
    return made["key"]


async def test_the_owners_are_told_three_times(town, autojump_clock, leap):
    key = await key_that_lasts(town, 20)
    await wait(town, leap, 5)
    assert town.mails.to(OWNER) == []
    await wait(town, leap, 2)
    await wait(town, leap, 2)
    (mail,) = town.mails.to(OWNER)
    assert "expire bientôt" in mail.subject
    assert f"Caisse …{key['last4']}" in mail.text
    assert f"/keys/{key['id']}" in mail.text
    await wait(town, leap, 8.5)
    await wait(town, leap, 0)
    assert len(town.mails.to(OWNER)) == 2
    await wait(town, leap, 2)
    await wait(town, leap, 0.2)
    assert len(town.mails.to(OWNER)) == 3


async def test_a_key_made_for_a_week_is_told_of_twice(town, autojump_clock, leap):
    await key_that_lasts(town, 7)
    await wait(town, leap, 1)
    assert town.mails.to(OWNER) == []
    await wait(town, leap, 3.5)
    assert len(town.mails.to(OWNER)) == 1
    await wait(town, leap, 2)
    assert len(town.mails.to(OWNER)) == 2


async def test_nobody_is_told_of_a_later_time_too_early(town, autojump_clock, leap):
    key = await key_that_lasts(town, 15)
    await wait(town, leap, 2)
    assert len(town.mails.to(OWNER)) == 1
    now_ms = town.gateway.services.recorder.clock.now_ms()
    later = iso(now_ms + 30 * DAY_S * 1000)
    await town.do("key.set", key_id=key["id"], expires_at=later)
    await wait(town, leap, 10)
    assert len(town.mails.to(OWNER)) == 1
    await wait(town, leap, 8)
    assert len(town.mails.to(OWNER)) == 2
