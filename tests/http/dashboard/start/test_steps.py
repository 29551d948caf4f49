"""The first steps, and the programs beside them."""

import re

import pytest

import web_messages
from risala.engine.model.callers import Role
from risala.engine.model.times import iso
from web_people import AT_MS

START = "/app/org_1/start"
NOTHING = {
    **dict.fromkeys(("key", "message", "verification", "webhook")),
    "delivered": False,
    "paid": False,
}
PENDING = {**web_messages.listed(6, "pending"), "mode": "test"}


def plain(page) -> str:
    return page.text.replace('<bdi class="num">', "").replace("</bdi>", "")


def links(page) -> list[str]:
    """Where the buttons of the steps lead; the search's button is in the frame of every page."""
    found = [each for tag, each in page.tags if tag == "a" and "data-seek-open" not in each]
    return [each["href"] for each in found if each.get("class", "").startswith("btn sm")]


async def test_of_a_new_organization_every_step_leads_on(owner, gateway):
    gateway.answers = {"start.show": NOTHING}
    page = await owner.get(START)
    assert "0 of 5 done" in plain(page)
    assert links(page) == [
        *("/app/org_1/keys/new", "/app/org_1/messages/new", "/app/org_1/verify/try"),
        *("/app/org_1/webhooks/new", "/app/org_1/billing"),
    ]


async def test_steps_are_done_under_way_or_to_come(owner):
    page = await owner.get(START)
    states = [each.get("class") for tag, each in page.tags if tag == "li" and "class" in each]
    assert states[-5:] == ["done", "done", "waiting", "waiting", ""]
    assert "Delivered to" in page.text
    assert "/app/org_1/webhooks/whe_1" in links(page)


@pytest.mark.parametrize(
    ("changes", "done"),
    [
        ({"message": PENDING, "delivered": False}, 1),
        ({"message": None}, 2),
        ({"message": PENDING}, 2),
        ({"paid": True}, 3),
        ({"webhook": {**web_messages.steps()["webhook"], "deliveredAt": iso(AT_MS)}}, 3),
        ({"verification": {**web_messages.steps()["verification"], "status": "approved"}}, 3),
    ],
)
async def test_each_step_ticks_by_what_there_is(owner, gateway, changes, done):
    gateway.answers = {"start.show": web_messages.steps(**changes)}
    assert f"{done} of 5 done" in plain(await owner.get(START))


async def test_a_message_under_way_leads_to_its_page_in_its_mode(owner, gateway):
    steps = web_messages.steps(message=PENDING, delivered=False)
    gateway.answers = {"start.show": steps}
    assert f"/app/org_1/messages/{PENDING['messageId']}?mode=test" in links(await owner.get(START))


async def test_who_may_only_look_finds_no_buttons_that_change(reader_as, gateway):
    gateway.answers = {"start.show": NOTHING}
    assert links(await reader_as(Role.VIEWER).get(START)) == []


async def test_before_the_first_delivery_a_step_says_its_title_alone(owner, gateway):
    gateway.answers = {"start.show": NOTHING}
    assert "costs nothing." not in (await owner.get(START)).text.partition("Five steps")[2]
    gateway.answers = {"start.show": {**NOTHING, "delivered": True}}
    assert "costs nothing." in (await owner.get(START)).text.partition("Five steps")[2]


async def test_the_overview_of_a_new_organization_says_what_is_left(owner, gateway):
    page = await owner.get("/app/org_1/overview")
    assert "2 of 5 steps" in plain(page)
    gateway.organization["createdAt"] = iso(AT_MS - 31 * 86_400_000)
    assert "steps to your first customer" not in (await owner.get("/app/org_1/overview")).text
    assert [name for name, _ in gateway.done].count("start.show") == 1


async def test_the_overview_is_silent_once_all_is_done(owner, gateway):
    done = web_messages.steps(paid=True)
    done["verification"] = {**done["verification"], "status": "approved"}
    done["webhook"] = {**done["webhook"], "deliveredAt": iso(AT_MS)}
    gateway.answers = {"start.show": done}
    assert "steps to your first customer" not in (await owner.get("/app/org_1/overview")).text


async def test_steps_tick_themselves(owner, short_streams):
    page = await owner.get(f"{START}/live")
    assert re.search('id="steps"[^>]*hx-swap-oob="true"', page.text)


async def test_who_sends_for_himself_has_no_customer_to_win(owner, gateway):
    gateway.is_self_paid = True
    page = await owner.get(START)
    assert "Your first steps" in page.text
    assert "of 4 done" in plain(page)
    assert "of 4 first steps" in plain(overview := await owner.get("/app/org_1/overview"))
    assert "customer" not in page.text.partition('id="steps"')[2].partition("</section>")[0]
    assert "first customer" not in overview.text
