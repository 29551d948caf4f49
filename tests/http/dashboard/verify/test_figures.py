"""The page of codes' figures: the funnel, times, costs, and a sentence for each carrier."""

import re

import pytest

from risala.engine.model.times import iso
from web_browser import assert_nothing_inline
from web_verify import AT_MS, OF, code_days, code_figure, code_figures

PAGE = "/app/org_1/verify/figures"
NOTHING = dict.fromkeys(("asked", "sent", "delivered", "entered", "withinMinute"), 0) | {
    "of": None,
    "medianSeconds": None,
    "p90Seconds": None,
    "cost": "0.00",
}


def asked(gateway):
    return [arguments for done, arguments in gateway.done if done == "codes.figures"]


async def test_a_funnel_times_and_the_cost_of_an_entered_code_are_shown(owner, gateway):
    page = await owner.get(PAGE)
    assert page.status == 200
    assert_nothing_inline(page)
    assert page.text.count('class="funnel"') == 1
    for figure in (">400<", "80.0%", "71.0%", "0.62"):
        assert figure in page.text, figure
    assert 'aria-label="How many codes are left at each step"' in page.text


async def test_of_each_carrier_a_sentence_says_how_many_were_entered_within_a_minute(owner):
    page = await owner.get(f"{PAGE}?by=day")
    text = page.text.replace("<bdi>", "").replace("</bdi>", "")
    assert page.text.count("were entered within a minute.") == 1
    assert "71%" in text
    assert "sim-1" in page.text


@pytest.mark.parametrize("by", OF)
async def test_it_is_by_what_is_chosen(owner, gateway, by):
    page = await owner.get(f"{PAGE}?by={by}&period=week")
    assert page.status == 200
    assert {each["by"] for each in asked(gateway)} == {by, "carrier"}
    assert [each["by"] for each in asked(gateway) if each["daily"]] == [by]
    assert {each["since"] for each in asked(gateway)} == {"2026-11-15T00:00:00.000Z"}
    assert {each["until"] for each in asked(gateway)} == {"2026-11-22T00:00:00.000Z"}
    assert page.text.count("<tr role") == 1 + len(OF[by])


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("network", ("Mattel", "Unknown")),
        ("country", ("Mauritania", "Senegal")),
        ("carrier", ("sim-1", "No carrier took them")),
        ("key", ("All others", "Asked for by hand")),
        ("language", ("العربية", "Français", "Unknown")),
    ],
)
async def test_items_have_names(owner, by, words):
    page = await owner.get(f"{PAGE}?by={by}")
    assert all(each in page.text for each in words)


async def test_days_are_drawn_of_all_codes_and_by_network_and_language(owner):
    page = (await owner.get(PAGE)).text
    assert 'aria-label="Codes asked for and entered, by day"' in page
    for name in ("Mattel", "العربية", "Français"):
        assert f'aria-label="\u2068{name}\u2069: share entered of each day"' in page, name
    assert page.count('class="strip"') == 5, "two networks and three languages"
    assert re.sub("<[^>]*>", "", page).count("87 of 116") == 5, "the last day stands in tables too"
    assert page.count('<td class="n">–</td>') == 5, "a day without a code has no share"


async def test_languages_of_which_nothing_is_known_are_not_drawn(owner, gateway):
    daily = [code_days("day", None), code_days("network", "mattel"), code_days("language", None)]
    gateway.answers["codes.figures"] = code_figures("carrier", daily=True) | {"daily": daily}
    assert (await owner.get(PAGE)).text.count('class="strip"') == 1


@pytest.mark.parametrize("query", ["by=tag", "period=year"])
async def test_what_is_no_choice_is_refused(owner, gateway, query):
    assert (await owner.get(f"{PAGE}?{query}")).status == 422
    assert asked(gateway) == []


async def test_without_a_code_it_says_what_it_is_for(owner, gateway):
    gateway.answers["codes.figures"] = code_figures("carrier", whole=NOTHING, items=[])
    page = await owner.get(PAGE)
    assert "No code was asked for in this period" in page.text
    assert 'class="funnel"' not in page.text


async def test_codes_of_which_none_was_entered_have_no_time_and_no_cost(owner, gateway):
    none = code_figure("sim-1") | {
        "entered": 0,
        "withinMinute": 0,
        "medianSeconds": None,
        "p90Seconds": None,
    }
    gateway.answers["codes.figures"] = code_figures("carrier", whole=none, items=[none])
    page = await owner.get(PAGE)
    assert "no code was entered" in page.text
    assert "0%" in page.text


async def test_it_says_what_is_not_in_it_yet(owner, gateway):
    late = iso(AT_MS)
    gateway.answers["codes.figures"] = code_figures("carrier", countedUntil=late)
    assert "too many codes" in (await owner.get(PAGE)).text


async def test_the_pages_of_verify_lead_to_it(owner):
    assert f'href="{PAGE}"' in (await owner.get("/app/org_1/verify")).text


@pytest.mark.parametrize("language", ["fr", "ar"])
async def test_it_speaks_the_readers_language(owner, language):
    page = await owner.get(PAGE, headers={"accept-language": language})
    assert page.status == 200
