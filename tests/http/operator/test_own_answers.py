"""A carrier's page shows what short codes wrote back to the operator, and to no one else."""

from __future__ import annotations

import pytest

from risala.engine.model.callers import OperatorRole
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.message import Inbound
from web_browser import Reader

PAGE = "/operator/carriers/fake"
TITLES = {
    "en": "Answers to your texts",
    "fr": "Réponses à vos textes",
    "ar": "الردود على رسائلك",
}
TEXT = "Vous avez <b>500</b> MRU. رصيدك"

pytestmark = pytest.mark.parametrize("post", [{"driver": FakeDriver}], indirect=True)


async def answered(post):
    await post.do("carriers.text", carrier="fake", number="1234", text="BALANCE")
    services = post.gateway.services
    (line,) = (each for each in services.delivery.workers() if each.name == "fake")
    now_ms = services.recorder.clock.now_ms()
    await line.driver.context.inbound(Inbound("1234", None, TEXT, now_ms, ("mo1",)))


async def test_the_page_shows_them_in_each_language(post, operator):
    page = await operator.get(PAGE)
    assert TITLES["en"] not in page.text
    await answered(post)
    for language, title in TITLES.items():
        await operator.submit(page, "/operator/language", {"language": language, "next": PAGE})
        page = await operator.get(PAGE)
        assert page.status == 200
        assert title in page.text
        assert "Vous avez &lt;b&gt;500&lt;/b&gt; MRU." in page.text


async def test_only_who_may_text_sees_them(post, operator):
    await answered(post)
    email = "viewer@risala.example"
    await post.do("user.create", email=email, operator_role=OperatorRole.VIEWER.value)
    reader = Reader(post.console, {"risala-operator": await post.token(email, operator=True)})
    page = await reader.get(PAGE)
    assert page.status == 200
    assert TITLES["en"] not in page.text
