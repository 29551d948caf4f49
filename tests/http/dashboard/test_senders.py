"""The page of sender names."""

import pytest

from risala.engine.model.callers import Role
from web_people import sender

PAGE = "/app/org_1/senders"


@pytest.fixture(autouse=True)
def _senders(gateway):
    reason = "The name is generic, misleading or impersonates a third party."
    gateway.senders += [
        sender(1, name="<b>"),
        sender(2, status="denied", reason=reason),
    ]


def requests(gateway):
    return [arguments for name, arguments in gateway.done if name == "sender.request"]


async def test_progress_and_reasons_are_told(owner):
    page = await owner.get(PAGE)
    assert '<progress value="1312" max="2000"' in page.text
    assert "25 Nov 2026" in page.text
    assert "The name is generic, misleading" in page.text
    assert "&lt;b&gt;" in page.text
    assert "<b></bdi>" not in page.text


async def test_a_name_is_checked_while_it_is_typed(owner):
    long = (await owner.get(f"{PAGE}/check?name=Baraka+Market")).text
    assert ">13</bdi> characters" in long
    assert "The name is generic" in (await owner.get(f"{PAGE}/check?name=PROMO")).text
    assert (await owner.get(f"{PAGE}/check?name=")).text.strip() == ""


async def test_a_name_against_the_rules_is_not_asked_for(owner, gateway):
    form = await owner.get(f"{PAGE}/new")
    page = await owner.submit(form, PAGE, {"name": "Baraka Market", "description": "Orders"})
    assert page.status == 422
    assert 'value="Baraka Market"' in page.text
    assert requests(gateway) == []


async def test_what_would_be_refused_is_asked_for_only_on_purpose(owner, gateway):
    form = await owner.get(f"{PAGE}/new")
    fields = {"name": "PROMO", "description": "Offers"}
    page = await owner.submit(form, PAGE, fields)
    assert (page.status, requests(gateway)) == (422, [])
    assert "The name is generic" in page.text
    page = await owner.submit(page, PAGE, {**fields, "sure": "yes"})
    assert (page.status, page.location) == (303, PAGE)
    await owner.submit(form, PAGE, {**fields, "sure": "yes"})
    assert [each["name"] for each in requests(gateway)] == ["PROMO"] * len(requests(gateway))


async def test_a_viewer_sees_and_does_not_do(reader_as):
    page = await reader_as(Role.VIEWER).get(PAGE)
    assert page.status == 200
    assert "senders/new" not in page.text
