"""The pages of alarms: chains are made and changed; alarms raised, followed, and ended."""

from __future__ import annotations

import re

from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, EditConflict, Invalid
from web_browser import assert_nothing_inline

PAGE = "/app/org_1/alarms"
NEW, ONE, RAISED = f"{PAGE}/new", f"{PAGE}/alc_1", f"{PAGE}/raised/alm_"
FORM = {
    "name": "Cold room",
    "people": "36123456 mon-fri 08:00-18:00\r\n22123457",
    "interval_seconds": "120",
    "rounds": "2",
    "word": "VU",
    "language": "fr",
    "from": "",
}
WANTED = {
    **{name: FORM[name] for name in ("name", "word", "language")},
    "people": ["36123456 mon-fri 08:00-18:00", "22123457"],
    "interval_seconds": 120,
    "rounds": 2,
}


def asked(gateway, name):
    found = [arguments for done, arguments in gateway.done if done == f"alarm.{name}"]
    return [{key: value for key, value in each.items() if value is not None} for each in found]


def refusing(gateway, name, error):
    async def perform(wanted, arguments, caller, perform=gateway.perform):
        if wanted == f"alarm.{name}":
            raise error
        return await perform(wanted, arguments, caller)

    gateway.perform = perform


async def test_they_stand_with_those_that_nobody_has_answered(owner):
    page = await owner.get(PAGE)
    assert page.status == 200
    assert_nothing_inline(page)
    assert re.findall(rf'href="{PAGE}/(alc_\d)"', page.text) == ["alc_1", "alc_2", "alc_3"]
    assert "Cold room &lt;first&gt;" in page.text
    assert f'href="{RAISED}1"' in page.text
    assert "nobody has answered yet" in page.text


async def test_one_is_made_once(owner, gateway):
    page = await owner.get(NEW)
    assert 'value="OK"' in page.text
    for _ in range(2):
        assert (await owner.submit(page, NEW, FORM)).location == ONE
    assert asked(gateway, "create") == [{"organization_id": "org_1", **WANTED}]


async def test_what_is_refused_is_still_there(owner, gateway):
    page = await owner.get(NEW)
    again = await owner.submit(page, NEW, {**FORM, "rounds": "many"})
    assert "36123456 mon-fri" in again.text
    assert 'id="rounds-fault"' in again.text
    refusing(gateway, "create", Invalid("people", "invalid_person", "No line."))
    again = await owner.submit(await owner.get(NEW), NEW, FORM)
    assert 'id="people-fault"' in again.text
    assert "as the hint below says" in again.text


async def test_its_page_says_who_is_on_duty(owner):
    page = await owner.get(ONE)
    assert len(re.findall(r">\s*on duty\s*<", page.text)) == 1
    assert "Monday, Tuesday, Wednesday, Thursday, Friday" in page.text
    for word in ("goes on", "answered", "ended", "nobody answered"):
        assert word in page.text
    assert "Nobody is on duty now" not in page.text
    assert "Nobody is on duty now" in (await owner.get(f"{PAGE}/alc_3")).text


async def test_it_is_changed_with_its_version(owner, gateway):
    page = await owner.get(ONE)
    assert (await owner.submit(page, ONE, FORM)).location == ONE
    assert asked(gateway, "set") == [{"chain_id": "alc_1", "version": 1, **WANTED}]
    refusing(gateway, "set", EditConflict("fatou@example.com"))
    again = await owner.submit(page, ONE, {**FORM, "word": "SEEN"})
    assert "Present values:" in again.text
    assert 'value="SEEN"' in again.text


async def test_an_alarm_is_raised_once(owner, gateway):
    page = await owner.get(ONE)
    for _ in range(2):
        sent = await owner.submit(page, f"{ONE}/raise", {"text": "9 °C"})
        assert sent.location == f"{RAISED}1"
    assert asked(gateway, "raise") == [{"chain_id": "alc_1", "text": "9 °C", "mode": "live"}]
    refusing(
        gateway,
        "raise",
        Conflict("At most 20 alarms of an organization go on together. End one first."),
    )
    again = await owner.submit(await owner.get(ONE), f"{ONE}/raise", {"text": "10 °C"})
    assert "10 °C" in again.text
    assert "alarms of an organization go on together" in again.text


async def test_each_step_is_in_the_timeline(owner, gateway):
    page = await owner.get(f"{RAISED}1")
    assert_nothing_inline(page)
    steps = page.text[page.text.index('class="timeline"') :]
    assert steps.count("<li>") == 5, "raised, three steps, and the next one"
    assert "an erased number" in steps
    assert "The organization is not active." in steps
    assert 'href="/app/org_1/messages/sms_1"' in steps
    assert 'href="/app/org_1/connect/hok_1"' in steps
    assert (await owner.submit(page, f"{RAISED}1/end", {})).location == f"{RAISED}1"
    assert asked(gateway, "end") == [{"alarm_id": "alm_1"}]


async def test_how_it_ended_is_said(owner):
    for number, words in (
        (2, "answered."),
        (3, "Ended by"),
        (4, "Everybody was written to, and nobody answered."),
        (5, "the backup was made"),
    ):
        page = await owner.get(f"{RAISED}{number}")
        assert words in page.text
        assert "/end" not in page.text
    test = await owner.get(f"{RAISED}5")
    assert "messages/sms_1?mode=test" in test.text


async def test_one_that_has_just_ended_says_so(owner, gateway):
    page = await owner.get(f"{RAISED}1")
    refusing(gateway, "end", Conflict("This alarm has ended."))
    again = await owner.submit(page, f"{RAISED}1/end", {})
    assert "This alarm has ended." in again.text


async def test_it_is_deleted_after_a_question(owner, gateway):
    page = await owner.get(f"{ONE}/delete")
    assert "Hooks that raise it" in page.text
    assert (await owner.submit(page, f"{ONE}/delete", {})).location == PAGE
    assert asked(gateway, "delete") == [{"chain_id": "alc_1"}]


async def test_a_viewer_reads_only(reader_as):
    viewer = reader_as(Role.VIEWER)
    page = await viewer.get(ONE)
    assert page.status == 200
    assert 'name="people"' not in page.text
    assert 'name="text"' not in page.text
    assert (await viewer.get(NEW)).status in (403, 404)
    assert "/end" not in (await viewer.get(f"{RAISED}1")).text
