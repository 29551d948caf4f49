"""The pages of automatic answers: rules listed, written, tried and deleted; pauses ended."""

from __future__ import annotations

import re

from risala.engine.model.callers import Role
from risala.engine.model.errors import EditConflict, Invalid
from web_browser import assert_nothing_inline

PAGE = "/app/org_1/answers"
NEW, ONE = f"{PAGE}/new", f"{PAGE}/rul_1"
FIELDS = {
    "name": "Horaires",
    "keywords": "horaires, ساعات، hours",
    "anywhere": "yes",
    "days": "mon",
    "from_time": "08:00",
    "to_time": "",
    "language": "fr",
    "text_fr": "De 8 h à 19 h.",
    "text_ar": "",
    "text_en": "",
    "place": "2",
    "enabled": "yes",
    "forward_number": "",
    "forward_email": "duty@example.com",
    "forward_chat": "",
    "forward_url": "",
    "bot_token": "",
    "forward_secret": "",
}
WANTED = {
    "name": "Horaires",
    "keywords": ["horaires", "ساعات", "hours"],
    "anywhere": True,
    "first_contact": False,
    "days": ["mon"],
    "from_time": "08:00",
    "to_time": "",
    "language": "fr",
    "text_fr": "De 8 h à 19 h.",
    "text_ar": "",
    "text_en": "",
    "place": 2,
    "enabled": True,
    "forward_number": "",
    "forward_email": "duty@example.com",
    "forward_chat": "",
    "forward_url": "",
}


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == f"answer.{name}"]


def refusing(gateway, name, error):
    async def perform(wanted, arguments, caller, perform=gateway.perform):
        if wanted == f"answer.{name}":
            raise error
        return await perform(wanted, arguments, caller)

    gateway.perform = perform


async def test_rules_stand_in_their_order_with_what_they_answer(owner):
    page = await owner.get(PAGE)
    assert page.status == 200
    assert_nothing_inline(page)
    assert re.findall(rf'href="{PAGE}/(rul_\d)"', page.text) == [f"rul_{n}" for n in range(1, 5)]
    assert "Heures &lt;d&#39;ouverture&gt;" in page.text
    assert "horaires, ساعات, hours" in page.text
    assert "مرحبا بك في متجر البركة." in page.text
    assert "Friday, Saturday \u206619:00-08:00\u2069" in page.text
    assert ">Off<" in page.text
    assert "+222 36 12 00 01" in page.text.replace("\u00a0", " ")


async def test_a_text_is_tried_in_the_body_of_a_form(owner, gateway):
    page = await owner.get(PAGE)
    tried = await owner.submit(page, f"{PAGE}/try", {"text": "vos horaires", "number": ""})
    assert tried.status == 200
    assert "answers:" in tried.text
    assert "De 8 h" in tried.text
    assert 'role="status"' in tried.text
    assert asked(gateway, "try") == [{"organization_id": "org_1", "text": "vos horaires"}]
    none = await owner.submit(page, f"{PAGE}/try", {"text": "none", "number": ""})
    assert "No rule answers this text." in none.text
    empty = await owner.submit(page, f"{PAGE}/try", {"text": "", "number": ""})
    assert empty.status == 200


async def test_a_rule_is_made_once(owner, gateway):
    page = await owner.get(NEW)
    assert '<option value="5" selected>5</option>' in page.text
    for _ in range(2):
        assert (await owner.submit(page, NEW, FIELDS)).location == PAGE
    assert asked(gateway, "create") == [{"organization_id": "org_1", **WANTED}]


async def test_what_is_refused_is_still_there(owner, gateway):
    page = await owner.get(NEW)
    refusing(gateway, "create", Invalid("text_fr", "unknown_variable", "no"))
    again = await owner.submit(page, NEW, {**FIELDS, "text_fr": "<b>{{x}}"})
    assert again.status == 422
    assert "One of the variables is not known." in again.text
    assert "&lt;b&gt;{{x}}</textarea>" in again.text
    assert 'id="day-mon" value="mon" checked' in " ".join(again.text.split())
    assert 'value="08:00"' in again.text


async def test_a_rule_is_changed_unless_somebody_else_did(owner, gateway):
    page = await owner.get(ONE)
    assert "Nous sommes ouverts" in page.text
    assert (await owner.submit(page, ONE, FIELDS)).location == PAGE
    (changed,) = asked(gateway, "set")
    assert changed == {"rule_id": "rul_1", "version": 1, **WANTED}
    refusing(gateway, "set", EditConflict("fatou@example.com"))
    again = await owner.submit(page, ONE, FIELDS)
    assert again.status in (409, 422)
    assert "Present values:" in again.text


async def test_a_rule_is_deleted_after_a_question(owner, gateway):
    page = await owner.get(f"{ONE}/delete")
    assert "deleted for good" in page.text
    assert (await owner.submit(page, f"{ONE}/delete", {})).location == PAGE
    assert asked(gateway, "delete") == [{"rule_id": "rul_1"}]


async def test_a_pause_is_ended(owner, gateway):
    page = await owner.get(PAGE)
    assert (await owner.submit(page, f"{PAGE}/resume", {"paused": "+22236120001"})).location == PAGE
    assert asked(gateway, "resume") == [{"organization_id": "org_1", "number": "+22236120001"}]


async def test_a_viewer_reads_and_tries(reader_as):
    viewer = reader_as(Role.VIEWER)
    page = await viewer.get(PAGE)
    assert page.status == 200
    assert NEW not in page.text
    assert f"{PAGE}/resume" not in page.text
    assert f"{PAGE}/try" in page.text
    assert (await viewer.get(NEW)).status == 403
    one = await viewer.get(ONE)
    assert "Nous sommes ouverts" in one.text
    assert "<textarea" not in one.text


async def test_a_rule_shows_where_it_forwards_and_never_its_secrets(owner, reader_as):
    listed = await owner.get(PAGE)
    assert "forwarded to" in listed.text
    assert "duty.example.com" in listed.text
    assert "+222\u00a036\u00a012\u00a000\u00a009" in listed.text
    assert "t0p" not in listed.text
    form = await owner.get(ONE)
    values = {each.get("name"): each.get("value") for _, each in form.tags if each.get("name")}
    assert (values["forward_number"], values["forward_email"]) == ("+22236120009", "")
    assert (values["bot_token"], values["forward_secret"]) == ("", "")
    viewed = await reader_as(Role.VIEWER).get(ONE)
    assert "duty.example.com" in viewed.text
    assert "t0p" not in viewed.text


async def test_secrets_are_sent_only_where_somebody_typed_them(owner, gateway):
    await owner.submit(await owner.get(NEW), NEW, FIELDS)
    await owner.submit(await owner.get(NEW), NEW, {**FIELDS, "bot_token": "1:a"})
    plain, with_token = asked(gateway, "create")
    assert {"bot_token", "forward_secret"} & {*plain} == set()
    assert with_token["bot_token"] == "1:a"


async def test_a_try_shows_where_the_text_would_go(owner):
    page = await owner.submit(await owner.get(PAGE), f"{PAGE}/try", {"text": "Vos horaires ?"})
    assert "SMS: forwarded to" in page.text
    assert " parts</p>" in page.text
    assert "De +22236120001 : Vos horaires ?" in page.text
    assert "texts of this number are forwarded to it" in page.text
    assert "duty@example.com" in page.text
