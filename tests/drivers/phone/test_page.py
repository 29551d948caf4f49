"""What a phone's driver fills of its carrier's page."""

from __future__ import annotations

import pytest
import trio

from risala.drivers.phone.page_words import WORDS
from risala.drivers.phone.words import registration_of
from risala.lab.phone.events import StreamChanged
from risala.plugins.page import PageFigures, PageForm, PageHeading, PageTable, PageText
from risala.plugins.testing.drivers.manners import PlainPageService

ADDRESS = "https://sms.example/carriers/line"
TOKEN = "private0token0of0the0phone"


async def shown(line, language="en"):
    return await line.driver.console_page.show(PlainPageService(language))


def of(blocks, kind):
    return [each for each in blocks if isinstance(each, kind)]


def texts(blocks) -> str:
    return "\n".join(each.text for each in of(blocks, PageText))


async def test_a_phone_and_its_sims_are_shown(new_line, autojump_clock):
    sims = ("Mauritel", "Chinguitel")
    async with new_line(config={"sims": sims}, sim=2, number="+22233344556") as line:
        await line.up()
        await line.submit()
        await trio.sleep(125)
        blocks = await shown(line)
        assert [each.text for each in of(blocks, PageHeading)] == ["samsung/a14"]
        figures = dict(of(blocks, PageFigures)[0].figures)
        assert figures["Parts today"] == "1 of 200"
        assert (figures["Silent for"], figures["In hand"]) == ("2 min", 0)
        assert texts(blocks).startswith("Last seen: ")
        assert of(blocks, PageTable)[0].rows == [
            (1, "Mauritel", None, False),
            (2, "Chinguitel", "+22233344556", True),
        ]
        assert [each.action for each in of(blocks, PageForm)] == ["token", "forget"]


async def test_without_a_limit_a_day_has_no_most(new_line, autojump_clock):
    async with new_line(per_day_max=None, config={"sims": ()}) as line:
        await line.up()
        blocks = await shown(line)
        assert dict(of(blocks, PageFigures)[0].figures)["Parts today"] == 0
        assert of(blocks, PageTable)[0].empty == "The phone has named no SIM."


@pytest.mark.parametrize("language", WORDS)
async def test_the_steps_are_shown_while_no_phone_is_registered(new_line, language, autojump_clock):
    async with new_line() as line:
        line.phone.kill()
        await trio.sleep(1)
        blocks = await shown(line, language)
        assert f"{ADDRESS}/mobile/v1" in texts(blocks)
        assert WORDS[language].token in texts(blocks)
        assert TOKEN not in repr(blocks)
        assert [each.action for each in of(blocks, PageForm)] == ["token"]
        assert await line.driver.command("token", []) == {"token": TOKEN}


async def test_the_path_alone_is_no_address(new_line, autojump_clock):
    async with new_line() as line:
        line.phone.kill()
        await trio.sleep(1)
        service = PlainPageService("en")
        service.address = "/carriers/phone"
        blocks = await line.driver.console_page.show(service)
        assert "API URL: https://…/carriers/phone/mobile/v1" in texts(blocks)
        assert WORDS["en"].plain not in texts(blocks)
        service.address = "http://127.0.0.1:8080/carriers/phone"
        blocks = await line.driver.console_page.show(service)
        assert WORDS["en"].plain in texts(blocks)


@pytest.mark.parametrize("language", WORDS)
async def test_a_phone_that_waits_may_take_the_place(line, language, autojump_clock):
    other = await line.another_phone(name="xiaomi/redmi")
    await other.wait(StreamChanged, lambda it: it.is_open)
    blocks = await shown(line, language)
    assert "xiaomi/redmi" in of(blocks, PageHeading)[1].text
    replacing, token, forgetting = of(blocks, PageForm)
    actions = replacing.action, token.action, forgetting.action
    assert actions == ("replace", "token", "forget")
    assert forgetting.text == WORDS[language].forget_stays
    assert replacing.confirm
    assert forgetting.confirm
    await line.driver.command(replacing.action, [])
    assert [each.text for each in of(await shown(line), PageHeading)] == ["xiaomi/redmi"]


async def test_a_driver_that_does_not_run_says_so(line, autojump_clock):
    driver = type(line.driver)("phone", line.driver.settings)
    assert texts(await driver.console_page.show(PlainPageService("en"))) == (
        "The driver is not running."
    )


def test_a_number_that_the_app_knows_is_read():
    body = b'{"name": "a", "simCards": [{"simNumber": 1, "phoneNumber": "*****4556"}]}'
    assert registration_of(body).sims[0].phone == "*****4556"
