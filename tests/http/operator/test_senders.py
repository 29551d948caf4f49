"""Sender requests in the console: what an operator sees of them, and decides."""

from __future__ import annotations

import pytest

NAMES = ("BARAKA", "B4NKILY", "PROMO")
"""The last two are marked: one resembles a bank, one is generic."""


@pytest.fixture
async def asked(post):
    """Requests of one organization, by name."""
    whose = {"organization_id": post.organization_id}
    made = {}
    for name in NAMES:
        sender = await post.do("sender.request", name=name, description=f"For {name} <b>", **whose)
        made[name] = sender["id"]
    return made


async def lines(post, operation):
    found = (await post.do("audit.list", limit=50))["lines"]
    return [each for each in found if each["operation"] == operation]


async def test_marked_names_stand_first_and_say_why(asked, operator):
    page = await operator.get("/operator/senders")
    *marked, plain = (
        page.text.index(f"<bdi>{name}</bdi>") for name in ("B4NKILY", "PROMO", "BARAKA")
    )
    assert max(marked) < plain  # requests of one millisecond are in no order
    assert "It resembles <bdi>Bankily</bdi>, which is a bank" in page.text
    assert "The name is generic" in page.text
    assert "Nothing that we know of" in page.text
    assert "For BARAKA &lt;b&gt;" in page.text
    assert "wait for your decision, the oldest" in page.text
    own = page.text.partition("<main")[2]
    forms = [
        each["action"] for tag, each in page.tags if tag == "form" and "clear" in each["action"]
    ]
    assert forms == [f"/operator/senders/{asked['BARAKA']}/clear"], (
        "a marked one is looked at first"
    )
    assert own.count('class="rowlink"') == 3


async def test_a_name_is_cleared_and_then_waits_for_the_volume(post, asked, operator):
    page = await operator.get("/operator/senders")
    done = await operator.submit(page, f"/operator/senders/{asked['BARAKA']}/clear")
    assert done.location == "/operator/senders"
    page = await operator.get("/operator/senders")
    assert "The name is cleared." in page.text
    assert "wait for your decision, the oldest" in page.text
    assert "<bdi>BARAKA</bdi>" not in page.text
    page = await operator.get("/operator/senders?status=cleared")
    assert "<bdi>BARAKA</bdi>" in page.text
    assert '<progress value="0" max="2000"' in page.text
    (line,) = await lines(post, "sender.clear")
    assert (line["who"], line["face"]) == ("mariem@risala.example", "console")


async def test_the_volume_is_waived_by_somebody_who_was_told_what_that_does(post, asked, operator):
    at = f"/operator/senders/{asked['B4NKILY']}"
    page = await operator.get(at)
    assert "Check it carefully before you clear it." in page.text
    assert "approved at once: its next message leaves with it, though" in page.text
    done = await operator.submit(page, f"{at}/waive")
    assert done.location == "/operator/senders"
    found = await post.do("sender.requests", sender_id=asked["B4NKILY"])
    assert found["senders"][0]["status"] == "approved"
    assert "Messages leave with it from now on." in (await operator.get("/operator/senders")).text
    page = await operator.get(at)
    assert "with this name is refused immediately" in page.text
    assert f"{at}/waive" not in page.text
    assert f"{at}/clear" not in page.text


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("name_in_use", "already used by another organization"),
        ("misleading", "generic, misleading or impersonates"),
        ("regulations", "telecommunications regulations"),
        ("ownership", "insufficient to verify ownership"),
    ],
)
async def test_a_name_is_denied_for_one_of_four_reasons(post, asked, operator, code, told):
    at = f"/operator/senders/{asked['PROMO']}"
    page = await operator.get(at)
    assert told in page.text
    assert (await operator.submit(page, f"{at}/deny", {"reason": code})).status == 303
    (line,) = await lines(post, "sender.deny")
    assert line["subject"] == asked["PROMO"]
    text = (await operator.get("/operator/senders?status=denied")).text
    assert told in text
    text = (await operator.get(at)).text
    assert "A denied name stays denied." in text
    assert f"{at}/deny" not in text


@pytest.mark.parametrize("reason", ["", "I do not like it"])
async def test_a_denial_needs_a_reason(post, asked, operator, reason):
    at = f"/operator/senders/{asked['PROMO']}"
    page = await operator.submit(await operator.get(at), f"{at}/deny", {"reason": reason})
    assert page.status == 422
    assert "Choose one of the reasons." in page.text
    assert await lines(post, "sender.deny") == []


async def test_who_was_quicker_is_told_in_words(post, asked, operator):
    at = f"/operator/senders/{asked['BARAKA']}"
    page = await operator.get(at)
    await post.do("sender.deny", sender_id=asked["BARAKA"], reason="ownership")
    late = await operator.submit(page, f"{at}/clear")
    assert late.status == 422
    assert "was denied. It must be requested again." in late.text


async def test_a_name_that_another_organization_has_is_not_cleared(post, asked, operator):
    other = (await post.do("org.create", name="Nasr"))["id"]
    given = {"organization_id": other, "name": "Baraka", "description": "News"}
    theirs = (await post.do("sender.request", **given))["id"]
    await post.do("sender.waive", sender_id=asked["BARAKA"])
    at = f"/operator/senders/{theirs}"
    page = await operator.get(at)
    assert "a name of <bdi>Baraka Market</bdi>" in page.text
    refused = await operator.submit(page, f"{at}/clear")
    assert refused.status == 422
    assert f"is already used by the organization <bdi>{post.organization_id}</bdi>" in refused.text


async def test_requests_are_found_by_name_and_pages_go_on(post, operator):
    whose = {"organization_id": post.organization_id}
    for number in range(52):
        await post.do("sender.request", name=f"SHOP {number}", description="News", **whose)
    page = await operator.get("/operator/senders")
    assert page.text.count('class="rowlink"') == 50
    assert "Next" in page.text
    on = next(each["href"] for tag, each in page.tags if tag == "a" and each.get("rel") == "next")
    assert (await operator.get(on)).text.count('class="rowlink"') == 2
    page = await operator.get("/operator/senders?q=shop+51")
    assert page.text.count('class="rowlink"') == 1
    assert "No request matches" in (await operator.get("/operator/senders?q=nobody")).text
    assert (await operator.get("/operator/senders?before=nonsense")).status == 422
    assert "Nothing here" in (await operator.get("/operator/senders?status=approved")).text
    assert (await operator.get("/operator/senders/snd_none")).status == 404


async def test_nothing_waits(operator):
    text = (await operator.get("/operator/senders")).text
    assert "Nothing waits for you." in text
