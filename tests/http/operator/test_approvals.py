"""What needs a second operator, as two of them meet it in the console."""

from __future__ import annotations

import pytest

from risala.config.people import PeopleSection
from risala.engine.gateway.table import OPERATIONS
from risala.http.operator.approvals import FIELDS, KINDS
from risala.http.web.page_request import ASKED
from web_browser import Reader

FOUR_EYES = pytest.mark.parametrize(
    "post", [{"people": PeopleSection(four_eyes_from="1000")}], indirect=True
)


async def another(post, name, role="finance"):
    email = f"{name}@risala.example"
    await post.do("user.create", email=email, operator_role=role)
    return Reader(post.console, {"risala-operator": await post.token(email, operator=True)})


def test_each_kind_has_its_words():
    weighed = {name: each for name, each in OPERATIONS.items() if each.four_eyes is not None}
    assert set(KINDS) == set(weighed)
    arguments = {name for each in weighed.values() for name in each.arguments.model_fields}
    assert set(FIELDS) <= arguments


@FOUR_EYES
@pytest.mark.slow
async def test_a_top_up_is_asked_by_one_and_confirmed_by_the_other(post, operator):
    other, here = await another(post, "till"), f"/operator/organizations/{post.organization_id}"
    page = await operator.post(
        f"{here}/topup/check",
        {
            "form_token": (await operator.get(f"{here}/topup")).field("form_token"),
            "amount": "1500",
        },
    )
    asked = await operator.post(
        f"{here}/topup",
        {"form_token": page.field("form_token"), "once": page.field("once"), "amount": "1500"},
    )
    assert (asked.status, asked.location) == (303, "/operator/approvals")
    own = await operator.get("/operator/approvals")
    assert "Another operator confirms this." in own.text
    assert "Withdraw" in own.text
    assert "/confirm" not in own.text
    theirs = await other.get("/operator/approvals")
    assert "1,500" in theirs.text
    assert "mariem@risala.example" in theirs.text
    assert '<span class="count">' in theirs.text, "how many wait is beside the entry of the rail"
    (approval_id,) = {part.split("/")[0] for part in theirs.text.split("/operator/approvals/")[1:]}
    form = {"form_token": theirs.field("form_token"), "once": theirs.field("once")}
    by_hand = await operator.post(
        f"/operator/approvals/{approval_id}/confirm",
        {"form_token": own.field("form_token"), "once": page.field("once")},
    )
    assert by_hand.status in (303, 409, 422)
    done = await other.post(f"/operator/approvals/{approval_id}/confirm", form)
    assert (done.status, done.location) == (303, "/operator/approvals")
    shown = await post.do("org.show", organization_id=post.organization_id)
    assert shown["balance"] == "1500.00"
    after = await operator.get("/operator/approvals")
    assert "Confirmed" in after.text
    assert "till@risala.example" in after.text


@FOUR_EYES
@pytest.mark.slow
async def test_a_sender_waits_and_is_refused_with_a_reason(post, operator):
    made = await post.do(
        "sender.request", organization_id=post.organization_id, name="BARAKA", description="News"
    )
    other = await another(post, "boss", "administrator")
    page = await operator.get(f"/operator/senders/{made['id']}")
    asked = await operator.post(
        f"/operator/senders/{made['id']}/waive", {"form_token": page.field("form_token")}
    )
    assert asked.location == "/operator/approvals"
    assert ASKED.split(".")[0] in (await operator.get("/operator/approvals")).text
    theirs = await other.get("/operator/approvals")
    (approval_id,) = {part.split("/")[0] for part in theirs.text.split("/operator/approvals/")[1:]}
    refused = await other.post(
        f"/operator/approvals/{approval_id}/refuse",
        {"form_token": theirs.field("form_token"), "why": "Not theirs."},
    )
    assert refused.status == 303
    assert "Not theirs." in (await operator.get("/operator/approvals")).text
    listed = await post.do("sender.list", organization_id=post.organization_id)
    assert listed["senders"][0]["status"] == "pending"


@pytest.mark.slow
async def test_a_reset_of_factors_waits_without_any_limit(post, operator):
    other = await another(post, "boss", "administrator")
    page = await operator.get("/operator/users/one?email=boss@risala.example")
    assert "reset-factors" not in page.text, "there is none to reset"
    form = {"form_token": page.field("form_token"), "email": "boss@risala.example"}
    asked = await operator.post("/operator/users/reset-factors", form)
    assert asked.location == "/operator/approvals"
    assert "Reset somebody" in (await operator.get("/operator/approvals")).text
    own = await other.get("/operator/users/one?email=boss@risala.example")
    form["form_token"] = own.field("form_token")
    refused = await other.post("/operator/users/reset-factors", form)
    assert refused.status == 422
    assert "Nobody resets their own factors." in refused.text


@FOUR_EYES
@pytest.mark.slow
async def test_another_role_waits_too(post, operator):
    await another(post, "till")
    page = await operator.get("/operator/users/one?email=till@risala.example")
    form = {
        "form_token": page.field("form_token"),
        "version": page.field("version"),
        "email": "till@risala.example",
        "role": "administrator",
    }
    assert (await operator.post("/operator/users/role", form)).location == "/operator/approvals"
    shown = await post.do("user.show", email="till@risala.example")
    assert shown["user"]["operatorRole"] == "finance"
