"""Forms that cannot be done now say what happened, and lead back to the thing."""

import re

import pytest

from risala.engine.model.errors import Conflict, EditConflict
from risala.engine.model.people import Language
from risala.http.web.editing.edit_conflict import back_of
from risala.http.web.languages import load_words
from risala.http.web.refusals import refusal_sentence
from web_people import delivery, endpoint

ENDPOINT = "/app/org_1/webhooks/whe_1"


@pytest.fixture
def refused_app(gateway):
    gateway.endpoints["whe_1"] = endpoint()
    gateway.deliveries = [delivery(1)]
    return gateway


def heading(page) -> str:
    return re.search("<h1[^>]*>(.*?)</h1>", page.text)[1]


async def test_a_conflict_is_not_called_an_old_form(owner, refused_app):
    page = await owner.get(f"{ENDPOINT}?tab=settings")
    refused_app.refuse = Conflict("The endpoint is disabled. Enable it first.")
    answer = await owner.submit(page, f"{ENDPOINT}/test")
    assert (answer.status, heading(answer)) == (409, "This cannot be done now")
    assert "The endpoint is disabled. Enable it first." in answer.text
    assert f'<a class="btn main-act" href="{ENDPOINT}">Back to where you were</a>' in answer.text


async def test_somebody_elses_change_is_said_as_such(owner, refused_app):
    page = await owner.get(f"{ENDPOINT}?tab=settings")
    refused_app.refuse = EditConflict("sidi@baraka.example")
    answer = await owner.submit(page, f"{ENDPOINT}/disable")
    assert (answer.status, heading(answer)) == (409, "Somebody else changed this meanwhile")
    assert "It was <bdi>sidi@baraka.example</bdi>. Nothing was done here." in answer.text
    assert f'href="{ENDPOINT}">See it as it is now</a>' in answer.text


async def test_a_user_of_the_machine_is_the_operator(owner, refused_app):
    page = await owner.get(f"{ENDPOINT}?tab=settings")
    refused_app.refuse = EditConflict("root")
    answer = await owner.submit(page, f"{ENDPOINT}/disable")
    assert "It was the operator of this service." in answer.text
    words = load_words(Language.ENGLISH)
    told = refusal_sentence(words, EditConflict("root"))
    assert told.startswith("The operator of this service changed this meanwhile.")


async def test_an_old_form_leads_to_a_new_one(owner, refused_app):
    page = await owner.get(f"{ENDPOINT}?tab=settings")
    fields = {"form_token": page.field("form_token"), "once": "long.gone"}
    answer = await owner.post(f"{ENDPOINT}/test?mode=test", fields)
    assert (answer.status, heading(answer)) == (409, "This form is old")
    assert "Nothing was done." in answer.text
    assert f'href="{ENDPOINT}?mode=test">Open the form again</a>' in answer.text


class Asked:
    def __init__(self, path: str, method: str = "POST") -> None:
        self.http, self.is_inside, self.tail = self, True, ""
        self.path, self.method = path, method


def test_the_page_of_the_thing_is_the_nearest_one_above():
    pages = [re.compile("/app/[^/]+/keys"), re.compile("/app/[^/]+/keys/[^/]+")]
    assert back_of(Asked("/app/o/keys/k/rotate"), pages) == "/app/o/keys/k"
    assert back_of(Asked("/app/o/keys/k"), pages) == "/app/o/keys/k"
    assert back_of(Asked("/app/o/keys/k", "GET"), pages) == "/app/o/keys"
    assert back_of(Asked("/app/o/other/x"), pages) is None
