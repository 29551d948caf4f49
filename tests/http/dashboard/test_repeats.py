"""The pages of mailings that repeat: listed, made, changed, paused, ended and deleted."""

from __future__ import annotations

import re

from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, EditConflict, Invalid
from web_browser import assert_nothing_inline

PAGE = "/app/org_1/repeats"
NEW, ONE = f"{PAGE}/new", f"{PAGE}/rpt_1"
FORM = {
    "name": "Rent",
    "list_id": "lst_1",
    "text": "Due, {{name}}",
    "unit": "months",
    "every": "2",
    "time": "10:00",
    "starts_on": "2026-12-01",
    "month_days": "1، 31",
    "days": "mon",
    "until": "",
    "count": "",
    "from_hour": "8",
    "to_hour": "20",
    "pace": "",
    "from": "",
}
WANTED = {
    **{name: FORM[name] for name in ("name", "list_id", "text", "unit", "time", "until")},
    "every": 2,
    "month_days": [1, 31],
    "days": ["mon"],
    "from_hour": 8,
    "to_hour": 20,
    "count": 0,
}


def asked(gateway, name):
    found = [arguments for done, arguments in gateway.done if done == f"repeat.{name}"]
    return [{key: value for key, value in each.items() if value is not None} for each in found]


def refusing(gateway, name, error):
    async def perform(wanted, arguments, caller, perform=gateway.perform):
        if wanted == f"repeat.{name}":
            raise error
        return await perform(wanted, arguments, caller)

    gateway.perform = perform


async def test_they_stand_with_what_is_next(owner):
    page = await owner.get(PAGE)
    assert page.status == 200
    assert_nothing_inline(page)
    assert re.findall(rf'href="{PAGE}/(rpt_\d)"', page.text) == [f"rpt_{n}" for n in range(1, 5)]
    assert "Rent &lt;first&gt;" in page.text
    assert " · 1, 31 · \u206610:00\u2069" in page.text
    assert " weeks · Monday · " in page.text
    for word in ("active", "paused", "ended"):
        assert word in page.text


async def test_one_is_made_once(owner, gateway):
    page = await owner.get(NEW)
    for _ in range(2):
        assert (await owner.submit(page, NEW, FORM)).location == ONE
    (made,) = asked(gateway, "create")
    assert made == {
        "organization_id": "org_1",
        "mode": "live",
        "starts_on": "2026-12-01",
        **WANTED,
    }


async def test_what_is_refused_is_still_there(owner, gateway):
    page = await owner.get(NEW)
    for name, typed in (("every", "two"), ("month_days", "1, last"), ("pace", "-1")):
        again = await owner.submit(page, NEW, {**FORM, name: typed})
        assert again.status == 422
        assert "too small or too large" in again.text
        assert f'value="{typed}"' in again.text
    assert asked(gateway, "create") == []
    refusing(gateway, "create", Invalid("time", "outside_hours", "no"))
    again = await owner.submit(page, NEW, FORM)
    assert "At this time its mailings do not send." in again.text
    assert 'id="day-mon" value="mon" checked' in " ".join(again.text.split())


async def test_the_calendar_says_what_is_odd(owner):
    page = await owner.get(ONE)
    assert_nothing_inline(page)
    for sentence in (
        "This month has no such day: it is its last one.",
        "The clocks skip this hour: it is as much later.",
        "This hour comes twice: it is the first.",
        "skipped: the service was not there for an hour (3 runs were missed)",
        "skipped: the mailing before still waited for money",
        "skipped: nobody on the list could be written to",
        "The organization is not active.",
    ):
        assert sentence in page.text
    assert 'href="/app/org_1/mailings/mlg_1"' in page.text
    assert "In the time zone" in page.text


async def test_one_that_rests_says_why(owner):
    paused = await owner.get(f"{PAGE}/rpt_3")
    assert "The service was restored from a backup." in paused.text
    assert f'action="{PAGE}/rpt_3/go-on"' in paused.text
    ended = await owner.get(f"{PAGE}/rpt_4")
    assert "The balance was not enough for two runs in a row." in ended.text
    assert "No run is to come." in ended.text
    assert 'name="month_days"' not in ended.text
    assert (await owner.get(f"{PAGE}/rpt_9")).status == 404


async def test_one_is_changed_unless_somebody_else_did(owner, gateway):
    page = await owner.get(ONE)
    assert (await owner.submit(page, ONE, FORM)).location == ONE
    (changed,) = asked(gateway, "set")
    assert changed == {
        "repeat_id": "rpt_1",
        "version": 1,
        **WANTED,
    }
    refusing(gateway, "set", EditConflict("fatou@example.com"))
    again = await owner.submit(page, ONE, FORM)
    assert again.status in (409, 422)
    assert "Present values:" in again.text


async def test_it_is_paused_ended_and_deleted(owner, gateway):
    page = await owner.get(ONE)
    for act in ("pause", "end"):
        assert (await owner.submit(page, f"{ONE}/{act}", {})).location == ONE
        assert asked(gateway, act) == [{"repeat_id": "rpt_1"}]
    paused = await owner.get(f"{PAGE}/rpt_3")
    assert (await owner.submit(paused, f"{PAGE}/rpt_3/go-on", {})).location == f"{PAGE}/rpt_3"
    asks = await owner.get(f"{ONE}/delete")
    assert "Its mailings stay." in asks.text
    assert (await owner.submit(asks, f"{ONE}/delete", {})).location == PAGE
    assert asked(gateway, "delete") == [{"repeat_id": "rpt_1"}]
    refusing(gateway, "pause", Conflict("This repeat is paused."))
    again = await owner.submit(page, f"{ONE}/pause", {})
    assert "This repeat is paused." in again.text


async def test_a_viewer_reads_only(reader_as):
    viewer = reader_as(Role.VIEWER)
    page = await viewer.get(ONE)
    assert page.status == 200
    assert 'name="month_days"' not in page.text
    assert (await viewer.get(NEW)).status in (403, 404)
