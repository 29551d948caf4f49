"""The console's page of codes: those of all organizations together."""

import re

import pytest

from web_browser import assert_nothing_inline

PAGE = "/operator/codes"


async def ask(post, number: int) -> str:
    """A code for a number of an organization of its own; returns the organization."""
    made = await post.do("org.create", name=f"Shop {number}")
    await post.do("topup", organization_id=made["id"], amount="100")
    to = f"+2223612340{number}"
    await post.do("verify.send", organization_id=made["id"], to=to)
    return made["id"]


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))


async def test_codes_of_all_organizations_are_counted_together(post, operator):
    assert "No code was asked for in this period" in (await operator.get(PAGE)).text
    for number in range(3):
        await ask(post, number)
    page = await operator.get(PAGE)
    assert page.status == 200
    assert_nothing_inline(page)
    assert "Codes asked for 3 " in plain(page.text)
    for by in ("network", "country", "channel", "day"):
        assert "Codes asked for 3 " in plain((await operator.get(f"{PAGE}?by={by}")).text)
    assert "by=key" not in page.text
    assert (await operator.get(f"{PAGE}?by=key")).status == 422


async def test_each_look_at_all_of_them_is_a_line_of_the_trail(post, operator):
    await operator.get(PAGE)
    lines = (await post.do("audit.list", operation="codes.figures"))["lines"]
    assert [line["operation"] for line in lines] == ["codes.figures"]


async def test_a_code_of_a_deleted_organization_is_in_none(post, operator):
    organization = await ask(post, 1)
    await post.do("org.delete", name="Shop 1", organization_id=organization)
    assert "No code was asked for in this period" in (await operator.get(PAGE)).text


@pytest.mark.parametrize("language", ["fr", "ar"])
async def test_it_speaks_the_reader_s_language(post, operator, language):
    await ask(post, 1)
    operator.cookies["risala-language"] = language
    page = await operator.get(PAGE)
    assert "Asked for" not in page.text
    assert {"fr": "Demandés", "ar": "طُلبت"}[language] in page.text
