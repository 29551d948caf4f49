"""The guard's page: what is suspicious and why, what becomes of it, and what passes."""

from __future__ import annotations

import re

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import Invalid
from web_verify import guard, suspicious

PAGE = "/app/org_1/verify/guard"


def asked(gateway):
    return [
        {name: value for name, value in arguments.items() if name != "organization_id"}
        for done, arguments in gateway.done
        if done == "verify.guard" and len(arguments) > 1
    ]


async def test_it_says_why_in_words_and_by_figures(owner):
    text = re.sub(r"<[^>]+>", "", (await owner.get(PAGE)).text)
    assert "Numbers that begin with +22237100" in text
    assert "Of 13 codes, 1 were entered; 85% is usual here." in text
    assert "That they are pumped is 25,036 times as likely." in text
    assert "more than 1,000,000,000 times" in text
    assert "Missed codes count 12, entered ones 1; each counts half after 24 hours." in text
    assert "134.00" in text


async def test_one_click_lets_a_block_pass_and_another_ends_it(owner, gateway):
    page = await owner.submit(
        await owner.get(PAGE), f"{PAGE}/pass", {"group": "block:+22237100", "passes": "yes"}
    )
    assert (page.status, page.location) == (303, PAGE)
    assert {"group": "block:+22237100", "passes": True} in asked(gateway)
    page = await owner.submit(
        await owner.get(PAGE), f"{PAGE}/pass", {"group": "block:+22237100", "passes": "no"}
    )
    assert {"group": "block:+22237100", "passes": False} in asked(gateway)


async def test_owners_choose_for_a_key_and_reserve_a_share(owner, gateway):
    page = await owner.get(PAGE)
    await owner.submit(page, PAGE, {"key_id": "key_1", "reaction": "refuse"})
    assert {"key_id": "key_1", "reaction": "refuse"} in asked(gateway)
    await owner.submit(await owner.get(PAGE), PAGE, {"secret_share": "30"})
    assert {"secret_share": 30} in asked(gateway)


async def test_a_share_that_is_none_is_refused_beside_its_field(owner, gateway, monkeypatch):
    perform = gateway.perform

    async def refusing(name, arguments, caller):
        if "secret_share" in arguments:
            raise Invalid("secret_share", "out_of_range", "`secret_share` must be from 0 to 90.")
        return await perform(name, arguments, caller)

    page = await owner.get(PAGE)
    monkeypatch.setattr(gateway, "perform", refusing)
    again = await owner.submit(page, PAGE, {"secret_share": "100"})
    assert again.status == 422
    assert 'aria-invalid="true"' in again.text


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVELOPER])
async def test_only_owners_change_what_becomes_of_codes(reader_as, role):
    text = (await reader_as(role).get(PAGE)).text
    assert 'name="reaction"' not in text
    assert ('value="block:+22237100"' in text) == (role is Role.DEVELOPER)


async def test_without_anything_suspicious_it_says_so(owner, gateway):
    gateway.answers["verify.guard"] = guard(suspicious=[], keys=[])
    text = (await owner.get(PAGE)).text
    assert "No code was suspicious" in text
    assert "There is no live key yet." in text
    gateway.answers["verify.guard"] = guard(suspicious=[suspicious(1, kind="tag", name="")])
    assert "All other tags" in (await owner.get(PAGE)).text
