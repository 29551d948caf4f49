"""Fixed codes of reviewers on the page of Verify's settings."""

from __future__ import annotations

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, FieldFault, Invalid, NotFound
from web_verify import SESSION_ID, fixed_number, session

PAGE = "/app/org_1/verify/settings"
FIXED = f"{PAGE}/fixed"
NUMBER = "+222 36 55 00 01".replace(" ", "\N{NO-BREAK SPACE}")
TYPED = {"number": "36 12 34 56", "code": "804162", "days": "14"}


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == name]


def refuses(gateway, monkeypatch, operation, error):
    perform = gateway.perform

    async def refusing(name, arguments, caller):
        if name == operation:
            raise error
        return await perform(name, arguments, caller)

    monkeypatch.setattr(gateway, "perform", refusing)


async def test_the_settings_show_the_numbers_and_what_they_weaken(owner, gateway):
    page = await owner.get(PAGE)
    assert "Anybody who knows such a number and its code gets in as its user." in page.text
    assert NUMBER in page.text
    assert f'action="{FIXED}/remove"' in page.text
    assert f'href="{FIXED}"' in page.text


async def test_at_ten_no_other_is_offered(owner, gateway):
    gateway.answers["fixed_number.list"] = {"numbers": [fixed_number(each) for each in range(10)]}
    assert f'href="{FIXED}"' not in (await owner.get(PAGE)).text


async def test_one_is_set_and_the_code_is_not_shown_again(owner, gateway):
    page = await owner.submit(await owner.get(FIXED), FIXED, TYPED)
    assert (page.status, page.location) == (303, PAGE)
    (given,) = asked(gateway, "fixed_number.set")
    assert (given["code"], given["days"]) == ("804162", 14)
    assert "804162" not in (await owner.get(PAGE)).text


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (Invalid.of([FieldFault("code", "invalid_fixed_code", "?")]), "Write 6 to 8 digits."),
        (Invalid.of([FieldFault("days", "invalid_fixed_days", "?")]), "days from 1 to 90."),
        (
            Conflict(
                "A code that was sent to this number has been entered: it is somebody's account."
                " Take a number that only your reviewers use."
            ),
            "it is somebody",
        ),
    ],
)
async def test_a_refusal_is_told_and_the_code_is_typed_again(
    owner, gateway, monkeypatch, refusal, sentence
):
    refuses(gateway, monkeypatch, "fixed_number.set", refusal)
    page = await owner.submit(await owner.get(FIXED), FIXED, TYPED)
    assert page.status == 422
    assert sentence in page.text
    assert "36 12 34 56" in page.text
    assert "804162" not in page.text


async def test_one_is_removed_also_twice(owner, gateway, monkeypatch):
    page = await owner.get(PAGE)
    for _ in range(2):
        gone = await owner.submit(page, f"{FIXED}/remove", {"number": "+22236550001"})
        assert (gone.status, gone.location) == (303, PAGE)
        refuses(gateway, monkeypatch, "fixed_number.remove", NotFound("It has none."))
    assert asked(gateway, "fixed_number.remove")[0]["number"] == "+22236550001"


@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.VIEWER])
async def test_others_see_and_do_not_do(reader_as, role):
    reader = reader_as(role)
    page = await reader.get(PAGE)
    assert NUMBER in page.text
    assert FIXED not in page.text
    assert (await reader.get(FIXED)).status == 403


async def test_a_session_of_one_has_no_sms(owner, gateway):
    gateway.answers["verify.get"] = session(0, messageId=None)
    page = await owner.get(f"/app/org_1/verify/{SESSION_ID}0")
    assert "None was sent: this number has a fixed code." in page.text
    assert asked(gateway, "message.show") == []
