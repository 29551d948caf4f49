"""The dashboard of a service of other countries: numbers as people there write and read them."""

from __future__ import annotations

import re

import pytest
import trio

from cases import sweep
from risala.config.model import Settings
from risala.engine.model.callers import Role
from risala.engine.model.errors import Invalid
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
        return Reader(app, {"risala": gateway.people.sign_in(user(), place)})

    return make


@sweep("route", GETS, named)
async def test_no_page_names_another_country(reader_in, route):
    page = await reader_in(("FR",)).get(path_of(route))
    assert not re.search(r'placeholder="(\+222|36 )|[Mm]auritan', page.text)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        *[(path, 'placeholder="06 12 34 56 78"') for path in TYPED],
        ("/app/org_1/start?mode=live", "+33612345678"),
        ("/app/org_1/start?mode=test", "+33612345600"),
        ("/app/org_1/webhooks/new", "+33612345678"),
        ("/profile", "SMS and phone verification<"),
    ],
)
async def test_examples_are_of_home(reader_in, path, shown):
    assert shown in (await reader_in(("FR",)).get(path)).text


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
