"""The console's search: over all organizations, without texts, each in the trail without words."""

import re

import pytest

from web_browser import assert_nothing_inline

PAGE = "/operator/search"
TO = "+22236123456"


async def send(post) -> str:
    made = await post.do("org.create", name="Shop <1>")
    await post.do("topup", organization_id=made["id"], amount="100")
    sent = await post.do("send", organization_id=made["id"], to=TO, body="Their own words")
    return sent["messageId"]


async def test_it_finds_over_all_organizations_and_never_a_text(post, operator):
    message_id = await send(post)
    page = await operator.get(f"{PAGE}?q=3456")
    assert page.status == 200
    assert_nothing_inline(page)
    assert f'<a href="/operator/messages/{message_id}" data-row>' in page.text
    assert "Shop &lt;1&gt;" in page.text
    for query in ("words", "Their+own", "345"):
        page = await operator.get(f"{PAGE}?q={query}")
        assert "data-row" not in page.text, query
        assert "texts are never searched" in page.text
    assert (await operator.get(f"{PAGE}?q={message_id}")).location.endswith(message_id)


async def test_each_search_is_a_line_without_the_words(post, operator):
    await send(post)
    await operator.get(PAGE)
    await operator.get(f"{PAGE}/found?q=3456")
    await operator.get(f"{PAGE}?q=Shop")
    lines = (await post.do("audit.list", operation="search.find"))["lines"]
    assert [line["operation"] for line in lines] == ["search.find"] * 2
    assert "3456" not in repr(lines)
    assert "Shop" not in repr(lines)


async def test_the_field_is_on_each_page_and_asks_on_enter(operator):
    page = await operator.get("/operator/overview")
    assert f'action="{PAGE}"' in page.text
    assert re.search(r"data-found=\"/operator/search/found\" data-by-enter", page.text)


@pytest.mark.parametrize("language", ["fr", "ar"])
async def test_it_speaks_the_reader_s_language(post, operator, language):
    await send(post)
    operator.cookies["risala-language"] = language
    page = await operator.get(f"{PAGE}?q=3456")
    assert {"fr": "Chercher partout", "ar": "البحث في كل شيء"}[language] in page.text
    assert "Search everything" not in page.text


async def test_operators_have_the_whole_handbook(operator):
    page = await operator.get("/operator/handbook")
    assert 'href="/operator/handbook/how-to.back-up-and-restore"' in page.text
    page = await operator.get("/operator/handbook/how-to.back-up-and-restore")
    assert page.status == 200
    assert_nothing_inline(page)
    page = await operator.get("/operator/search?q=back+up")
    assert 'href="/operator/handbook/how-to.back-up-and-restore"' in page.text
