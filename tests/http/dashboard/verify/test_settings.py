"""Verify's settings."""

import re

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import EditConflict, FieldFault, Invalid
from web_people import TEXT, sender

PAGE = "/app/org_1/verify/settings"
FIELDS = {
    "code_length": "6",
    "expiry_minutes": "10",
    "attempts_max": "5",
    "per_phone_per_hour": "5",
    "per_organization_per_hour": "100",
    "client_ip_per_hour": "0",
    "own_codes": "yes",
    "never_share": "yes",
    "template": TEXT,
    "template_en": "",
    "template_fr": "Votre code : {{code}}",
    "template_ar": TEXT,
    "template_ha": TEXT,
    "template_sw": TEXT,
    "language": "ar",
    "sender": "",
    "app_hashes": "",
    "origins": "a.example\r\n b.example ",
    "version": "4",
}


def saved(gateway):
    return [asked for name, asked in gateway.done if name == "verify.config" and len(asked) > 1]


async def test_each_text_is_seen_with_its_preview_and_its_parts(owner, gateway):
    gateway.verify["settings"]["templates"] = {"fr": "Code <b>{{code}}</b>"}
    gateway.verify["sizes"]["fr"] = {"segments": 3, "encoding": "UCS-2", "price": "1.50"}
    gateway.senders = [
        sender(1, name="BARAKA", status="approved"),
        sender(1, name="WAITING", status="pending"),
    ]
    page = await owner.get(PAGE)
    assert page.status == 200
    assert page.text.count("Your code is 482193. Expires in 10 minutes.") == 5
    assert "Code &lt;b&gt;482193&lt;/b&gt;" in page.text
    assert "UCS-2" in page.text
    assert "BARAKA" in page.text
    assert "WAITING" not in page.text


async def test_what_was_typed_is_saved_as_of_the_version_seen(owner, gateway):
    page = await owner.submit(await owner.get(PAGE), PAGE, FIELDS)
    assert (page.status, page.location) == (303, PAGE)
    (asked,) = saved(gateway)
    assert asked["version"] == 4
    assert asked["code_length"] == "6"
    assert asked["template"] is None
    assert asked["templates"] == {"fr": "Votre code : {{code}}"}
    assert asked["language"] == "ar"
    assert asked["sender"] is None
    assert asked["origins"] == ["a.example", "b.example"]
    assert "Codes that are sent from now on" in (await owner.get(PAGE)).text


async def test_a_text_that_the_page_had_no_field_for_stays(owner, gateway):
    """The operator added its language after the page was opened."""
    gateway.verify["settings"]["templates"] = {"sw": "Duka {{code}}", "ha": "Kanti {{code}}"}
    page = await owner.get(PAGE)
    older = {name: value for name, value in FIELDS.items() if name != "template_sw"}
    token = page.field("form_token")
    await owner.post(PAGE, {**older, "form_token": token})
    (asked,) = saved(gateway)
    assert asked["templates"] == {"fr": "Votre code : {{code}}", "sw": "Duka {{code}}"}


async def test_further_languages_are_folded_until_they_are_used(owner, gateway):
    folded = re.compile(r"<details class=\"stack\"( open)?>(.*?)</details>", re.DOTALL)
    more = folded.search((await owner.get(PAGE)).text)
    assert 'lang="sw"' in more[2]
    assert 'lang="fr"' not in more[2]
    assert more[1] is None
    gateway.verify["settings"]["language"] = "sw"
    assert 'lang="sw"' not in folded.search((await owner.get(PAGE)).text)[2]


async def test_the_line_stands_below_each_preview(owner, gateway):
    assert "10 minutes.\nNever share this code.</p>" not in (await owner.get(PAGE)).text
    gateway.verify["settings"]["never_share"] = True
    page = await owner.get(PAGE)
    assert page.text.count("10 minutes.\nNever share this code.</p>") == 6


class Refusing:
    """Refuses what changes something, and tells the rest."""

    def __init__(self, gateway, error):
        self._perform = gateway.perform
        self._error = error

    async def perform(self, name, arguments, caller):
        if name == "verify.config" and len(arguments) > 1:
            raise self._error
        return await self._perform(name, arguments, caller)


@pytest.mark.parametrize(
    ("path", "field", "told"),
    [
        ("code_length", "code_length", "Write a whole number from"),
        ("per_organization_per_hour", "per_organization_per_hour", "1,000,000"),
        ("template", "template", "The text must contain"),
        ("templates.fr", "template_fr", "The text must contain"),
        ("sender", "sender", "This sender is not approved"),
        ("app_hashes", "app_hashes", "An app hash has 11"),
        ("origins", "origins", "A host looks like"),
    ],
)
async def test_a_fault_stands_at_its_field(owner, gateway, path, field, told):
    form = await owner.get(PAGE)
    error = Invalid.of([FieldFault(path, "invalid_setting", "No.")])
    gateway.perform = Refusing(gateway, error).perform
    page = await owner.submit(form, PAGE, {**FIELDS, "attempts_max": '"><i>'})
    assert page.status == 422
    assert f'id="{field}-fault"' in page.text
    assert f'href="#{field}"' in page.text
    assert told in page.text
    assert "Votre code : {{code}}" in page.text
    assert "&gt;&lt;i&gt;" in page.text


async def test_what_another_changed_meanwhile_stands_beside_what_was_typed(owner, gateway):
    form = await owner.get(PAGE)
    gateway.perform = Refusing(gateway, EditConflict("sidi@baraka.example")).perform
    gateway.verify["version"] = 9
    gateway.verify["settings"]["code_length"] = 8
    gateway.verify["settings"]["templates"] = {"fr": "<i>{{code}}</i>"}
    gateway.verify["settings"]["language"] = "en"
    page = await owner.submit(form, PAGE, {**FIELDS, "origins": "", "template_en": TEXT})
    assert page.status == 422
    assert "sidi@baraka.example</bdi> changed this meanwhile." in page.text
    assert page.field("version") == "9"
    shown = re.findall(r"<dt>([^<]*)</dt><dd dir=\"auto\">(.*?)</dd>", page.text)
    assert shown == [
        ("Français", "&lt;i&gt;{{code}}&lt;/i&gt;"),
        ("Digits", "8"),
        ("Language if the request names none", "English"),
    ]
    assert 'value="6"' in page.text
    assert "Votre code : {{code}}" in page.text


async def test_a_form_with_a_fault_stays_one_of_the_version_that_was_seen(owner, gateway):
    form = await owner.get(PAGE)
    fault = FieldFault("code_length", "invalid_setting", "No.")
    gateway.perform = Refusing(gateway, Invalid.of([fault])).perform
    gateway.verify["version"] = 9
    page = await owner.submit(form, PAGE, FIELDS)
    assert page.field("version") == "4"
    assert "Present values" not in page.text


async def test_a_viewer_sees_and_does_not_do(reader_as):
    page = await reader_as(Role.VIEWER).get(PAGE)
    assert page.status == 200
    assert "Developers and owners" in page.text
    assert "form_token" not in page.text.partition("<main")[2]
    assert ">Save<" not in page.text


@pytest.mark.parametrize(("path", "back"), [(PAGE, PAGE), ("/app/org_1/start", "/app/org_1/start")])
async def test_codes_get_their_language_in_one_press(owner, gateway, path, back):
    """As long as nobody chose: then they would go out in English."""
    page = await owner.get(path)
    assert "Codes go out in English where a request names no language." in page.text
    fields = {"language": "fr", "back": page.field("back")}
    page = await owner.submit(page, f"{PAGE}/language", fields)
    assert page.location == back
    assert saved(gateway)[-1]["language"] == "fr"
    assert set(saved(gateway)[-1]) == {"organization_id", "language"}
    gateway.verify["settings"]["language"] = "fr"
    assert "Codes go out in English" not in (await owner.get(path)).text


async def test_who_may_not_choose_is_not_asked(reader_as):
    assert "Codes go out in English" not in (await reader_as(Role.VIEWER).get(PAGE)).text
