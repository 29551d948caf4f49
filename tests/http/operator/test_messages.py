"""Messages of all organizations in the console: found, followed, and read for a reason alone."""

from __future__ import annotations

from urllib.parse import quote

import pytest
import trio

from cases import sweep
from patience import HANG_S

FIND = "/operator/messages"
TEXT = "Votre commande <b>Akjoujt</b> est prête"


@pytest.fixture
async def message(post) -> str:
    """The id of a message that waits."""
    whose = {"organization_id": post.organization_id}
    await post.do("topup", amount="100", **whose)
    await post.do("carriers.pause", carrier="fake")
    return (await post.do("send", to="+22236123456", body=TEXT, **whose))["messageId"]


async def lines(post, operation: str) -> list[dict]:
    return (await post.do("audit.list", operation=operation))["lines"]


async def id_at_carrier(post, message: str) -> str | None:
    return (await post.do("message.show", message_id=message))["message"]["providerMessageId"]


async def test_nothing_is_looked_up_before_somebody_asks(post, operator, message):
    page = await operator.get(FIND)
    assert "What does the customer know about it?" in page.text
    assert await lines(post, "message.find") == []


@sweep("typed", ["36123456", "+222 36 12 34 56", "٣٦١٢٣٤٥٦"])
async def test_a_message_is_found_by_its_number(post, operator, message, typed):
    page = await operator.get(f"{FIND}?q={quote(typed)}")
    assert f"{FIND}/{message}" in page.text
    assert "Baraka Market" in page.text
    assert "commande" not in page.text
    line = (await lines(post, "message.find"))[0]
    assert line["who"] == "mariem@risala.example"
    assert "36123456" not in str(line)


@sweep("typed", ["123456", "12 34 56", "3456", "36 12", "+222 36 12", "00222 36 12", "٣٤٥٦"])
@sweep("by", ["", "&by=to"])
async def test_a_message_is_found_by_a_part_of_its_number(post, operator, message, typed, by):
    page = await operator.get(f"{FIND}?q={quote(typed)}{by}")
    assert f"{FIND}/{message}" in page.text
    line = (await lines(post, "message.find"))[0]
    assert "3456" not in str({**line, "hash": None})


async def test_a_part_of_a_number_that_no_message_has_is_told(operator, message):
    text = (await operator.get(f"{FIND}?q=987654")).text
    assert "We looked for it as a part of a number and as an id of a carrier." in text
    text = (await operator.get(f"{FIND}?q=987654&by=to")).text
    assert "We looked for it as a part of a number. Choose" in text
    page = await operator.get(f"{FIND}?q=123&by=to")
    assert page.status == 422
    assert "Type at least four digits" in page.text


async def test_an_id_leads_to_the_message(operator, message):
    assert (await operator.get(f"{FIND}?q={message}")).location == f"{FIND}/{message}"
    text = (await operator.get(f"{FIND}?q=sms_none")).text
    assert "We looked for it as an id of ours." in text


async def test_a_message_is_found_by_the_carriers_id(post, operator, message):
    await post.do("carriers.resume", carrier="fake")
    with trio.fail_after(HANG_S):
        while (carrier_id := await id_at_carrier(post, message)) is None:
            await trio.lowlevel.checkpoint()
    page = await operator.get(f"{FIND}/{message}")
    assert carrier_id in page.text
    page = await operator.get(f"{FIND}?q={carrier_id}&by=carrier_id")
    assert f"{FIND}/{message}" in page.text
    page = await operator.get(f"{FIND}?q=36123457&by=carrier_id")
    assert "We looked for it as an id of a carrier" in page.text


async def test_what_is_no_number_is_told(operator):
    page = await operator.get(f"{FIND}?q=shop&by=to")
    assert page.status == 422
    assert "A Mauritanian number has 8 digits" in page.text


async def test_its_page_tells_its_story_and_hides_its_text(post, operator, message):
    page = await operator.get(f"{FIND}/{message}")
    assert "Accepted and stored" in page.text
    assert "Baraka Market" in page.text
    assert "Show the text" in page.text
    assert "Akjoujt" not in page.text
    assert (await operator.get(f"{FIND}/sms_none")).status == 404


@sweep(
    ("language", "told"), [("fr", "Accepté et enregistré"), ("ar", "قُبلت"), ("en", "Accepted and")]
)
async def test_its_story_is_in_the_readers_language(operator, message, language, told):
    page = await operator.get(FIND)
    await operator.submit(page, "/operator/language", {"language": language, "next": FIND})
    assert told in (await operator.get(f"{FIND}/{message}")).text


async def test_the_text_is_shown_once_and_for_a_reason(post, operator, message):
    ask = f"{FIND}/{message}/text"
    page = await operator.get(ask)
    assert "Akjoujt" not in page.text
    without = await operator.submit(page, ask, {"reason": " "})
    assert without.status == 422
    assert "Fill this in." in without.text
    assert "Akjoujt" not in without.text
    assert await lines(post, "message.body") == []
    read = await operator.submit(page, ask, {"reason": "Ticket 812"})
    assert read.status == 200
    assert "Votre commande &lt;b&gt;Akjoujt&lt;/b&gt; est prête" in read.text
    assert "content-encoding" not in read.headers
    leads = next(
        each["href"] for tag, each in read.tags if "/audit?thing" in (each.get("href") or "")
    )
    assert "Ticket 812" in (await operator.get(leads)).text
    line = (await lines(post, "message.body"))[0]
    assert (line["who"], line["face"]) == ("mariem@risala.example", "console")
    assert "Ticket 812" in str(line)
    assert "Akjoujt" not in str(line)
    again = await operator.submit(page, ask, {"reason": "Ticket 812"})
    assert again.location == ask
    assert len(await lines(post, "message.body")) == 1
    assert "Akjoujt" not in (await operator.get(f"{FIND}/{message}")).text


async def test_a_code_is_nobodys_to_read(post, operator, message):
    whose = {"organization_id": post.organization_id}
    await post.do("verify.send", to="+22236123456", **whose)
    found = (await post.do("message.find", to="+22236123456"))["messages"]
    code = next(each["messageId"] for each in found if each["kind"] == "code")
    page = await operator.get(f"{FIND}/{code}")
    assert "The text is not kept" in page.text
    assert f"{FIND}/{code}/text" not in page.text


async def test_of_a_webhook_its_host_is_named_and_its_path_is_not(post, operator, message):
    url = "https://hooks.baraka.example/in/secret-path"
    whose = {"organization_id": post.organization_id}
    await post.do("webhook.create", url=url, types=["sms.sent"], **whose)
    await post.do("carriers.resume", carrier="fake")
    with trio.fail_after(HANG_S):
        while await id_at_carrier(post, message) is None:
            await trio.lowlevel.checkpoint()
    text = (await operator.get(f"{FIND}/{message}")).text
    assert "sms.sent" in text
    assert "hooks.baraka.example" in text
    assert "secret-path" not in text
