"""The dashboard of a service of other countries: numbers as people there write and read them."""

from __future__ import annotations

import re

import pytest
import trio

from cases import sweep
from risala.config.model import Settings
from risala.engine.model.callers import Role
from risala.engine.model.errors import CountryNotOpen, Invalid
from risala.engine.model.people import Language, ReachableOrganization
from risala.http.dashboard.app import ROUTES, create_dashboard
from risala.http.web.formats import Formats
from risala.http.web.languages import load_words
from risala.http.web.refusals import faults_of
from risala.sms.numbering.plan import DEFAULT, plan_of
from web_browser import FixedClock, Reader
from web_people import user

GETS = [
    route
    for route in ROUTES
    if route.method == "GET" and not re.search("/live|/progress", route.path)
]
TYPED = [
    f"/app/org_1/{each}"
    for each in (
        "messages/new",
        "verify/try",
        "inbound/opt-outs",
        "settings/kept",
        "settings/forget",
    )
]
"""Pages on which a number is typed."""
LIST = "/app/org_1/messages"
SEARCHES = [
    (("SN", "MR"), "70+123+45+67", "+221701234567"),
    (("SN", "MR"), "00222+36+12+34+56", "+22236123456"),
    (("FR",), "06+12+34+56+78", "+33612345678"),
    (("FR",), "%2B33+6+12+34+56+78", "+33612345678"),
]
SHOWN = [
    (("SN", "MR"), "+221701234567", "+221 70 123 45 67"),
    (("SN", "MR"), "+22236123456", "+222 36 12 34 56"),
    (("FR",), "+33612345678", "+33 6 12 34 56 78"),
]
SENTENCES = {
    Language.ENGLISH: "Senegal or Mauritania",
    Language.FRENCH: "Sénégal ou Mauritanie",
    Language.ARABIC: "السنغال أو موريتانيا",
}
FAULT = Invalid("to", "invalid_phone_number", "No.")


def named(route):
    return route.name


def path_of(route):
    path = route.path.replace("<org>", "org_1").replace("<key_id>", "key_1")
    path = path.replace("<credential_id>", "crd_1").replace("<user_id>", "usr_2")
    return re.sub("<.*?>", "x", path.replace("<endpoint_id>", "whe_1"))


@pytest.fixture
def reader_in(gateway):
    """An owner of org_1, where these countries are served."""

    def make(countries):
        settings = Settings.model_validate({"numbers": {"countries": [*countries]}})
        app = create_dashboard(gateway, settings, shutdown=trio.Event(), clock=FixedClock())
        place = ReachableOrganization("org_1", "Baraka Market", "active", Role.OWNER)
        return Reader(app, {"risala": gateway.people.enter(user(), place)})

    return make


@sweep("route", GETS, named)
async def test_no_page_names_another_country(reader_in, route):
    page = await reader_in(("FR",)).get(path_of(route))
    assert not re.search(r'placeholder="(\+222|36 )|[Mm]auritan', page.text)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        *[(path, 'placeholder="06 12 34 56 78"') for path in TYPED],
        ("/app/org_1/start", "+33612345600"),
        ("/app/org_1/webhooks/new", "+33612345678"),
        ("/profile", "SMS and phone verification · France<"),
    ],
)
async def test_examples_are_of_home(reader_in, path, shown):
    assert shown in (await reader_in(("FR",)).get(path)).text


PRICED = ("messages/new", "verify/try", "verify/settings", "billing")
"""Pages that say what a part costs."""


@pytest.mark.parametrize("path", PRICED)
async def test_a_price_is_that_of_home_and_those_abroad_are_told(reader_in, path):
    text = (await reader_in(("MR", "SN", "FR")).get(f"/app/org_1/{path}")).text
    assert "These are prices at home." in text
    told = " ".join(re.sub("<.*?>", "", text.partition("These are prices at home.")[2]).split())
    assert told.startswith("A part abroad costs: Senegal")
    assert "France" not in told
    for each in ("+221", "12.00", "+22177", "9.00"):
        assert each in told


@pytest.mark.parametrize("path", PRICED)
async def test_where_home_alone_is_served_nothing_is_told_of_prices_abroad(
    reader_in, gateway, path
):
    assert "at home" not in (await reader_in(("MR",)).get(f"/app/org_1/{path}")).text
    assert "country.list" not in [name for name, _ in gateway.done]


async def test_the_composer_counts_by_the_number(reader_in, gateway):
    owner = reader_in(("MR", "SN"))
    page = await owner.get("/app/org_1/messages/new")
    assert all(each in page.text for each in ('"+222": 50', '"+22177": 900', '"local": 8'))
    typed = {"to": "+221771234567", "body": "Bonjour"}
    await owner.submit(page, "/app/org_1/messages/new/count", typed)
    [given] = [given for name, given in gateway.done if name == "message.estimate"]
    assert given["to"] == "+221771234567"


async def test_the_composer_says_who_opens_a_country(reader_in, gateway):
    owner = reader_in(("MR", "SN"))
    page = await owner.get("/app/org_1/messages/new")
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "send":
            raise CountryNotOpen("Senegal")
        return await perform(name, arguments, caller)

    gateway.perform = refuse
    typed = {"to": "+221771234567", "body": "Bonjour"}
    told = await owner.submit(page, "/app/org_1/messages/new", typed)
    assert told.status >= 400
    assert "Ask the operator of this service to open it." in told.text


@pytest.mark.parametrize(("countries", "typed", "number"), SEARCHES)
async def test_a_number_is_searched_for_as_people_write_it(
    reader_in, gateway, countries, typed, number
):
    owner = reader_in(countries)
    assert (await owner.get(f"{LIST}?q={typed}")).status == 200
    assert [given["to"] for name, given in gateway.done if name == "message.list"] == [number]


@pytest.mark.parametrize(("countries", "number", "shown"), SHOWN)
def test_a_number_is_shown_as_people_write_it(countries, number, shown):
    words = load_words(Language.ENGLISH)
    found = Formats(words, None, "XOF", 0, plan_of(countries)).tel(number)
    assert shown in found.replace("\u00a0", " ").replace("\u202f", " ")


@pytest.mark.parametrize("language", [*Language])
def test_a_refusal_names_the_countries_in_the_language_of_the_page(language):
    words, plan = load_words(language), plan_of(("SN", "MR"))
    told = faults_of(words, FAULT, plan)["to"]
    assert SENTENCES[language] in told
    assert plan.example in told
    home = faults_of(words, FAULT, DEFAULT)["to"]
    assert home == words("A Mauritanian number has 8 digits and begins with 2, 3 or 4")
