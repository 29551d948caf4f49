"""Carriers in the console: how they stand, what is done with them, where a number would go."""

from __future__ import annotations

import re
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from cases import sweep
from risala.engine.features.overview.records import LATEST, CarrierRun
from risala.engine.model.people import Language
from risala.engine.model.records.carriers import routes, state
from risala.engine.model.records.carriers.routes import Traffic, TrafficLine
from risala.engine.model.records.carriers.state import (
    CarrierCondition,
    CarrierQuota,
    CarrierQuotas,
    Carriers,
    CarrierSignal,
    TraceLine,
)
from risala.http.operator.carriers.driver_words import driver_said
from risala.http.operator.carriers.words import reason_sentence
from risala.http.web.formats import Formats
from risala.http.web.languages import load_words

PAGE = "/operator/carriers"
AT_MS = 1_795_341_600_000
"""2026-11-22 10:00, UTC."""


def answering(monkeypatch, post, wanted, change):
    """The gateway answers one operation as changed."""
    answer = post.gateway.ask

    async def ask(asked, arguments, caller):
        found = await answer(asked, arguments, caller)
        return found._replace(value=change(found.value)) if asked == wanted else found

    monkeypatch.setattr(post.gateway, "ask", ask)


async def lane_of(post, name="fake"):
    return await post.do("carriers.show", carrier=name)


async def test_a_tile_says_how_a_carrier_stands(operator):
    page = await operator.get(PAGE)
    assert page.status == 200
    assert page.text.count('<article class="lane"') == 1
    assert "It is connected." in page.text
    assert "served by no carrier" not in page.text


@pytest.mark.parametrize(
    ("action", "gate", "said"),
    [("pause", "paused", "Paused: nothing is sent"), ("drain", "draining", "It takes nothing new")],
)
async def test_it_is_held_and_let_go(post, operator, action, gate, said):
    page = await operator.get(PAGE)
    done = await operator.submit(page, f"{PAGE}/fake/do/{action}")
    assert done.location == PAGE
    assert (await lane_of(post))["gate"] == gate
    page = await operator.get(PAGE)
    assert said in page.text
    assert "served by no carrier" in page.text  # the only one that serves all numbers
    assert f"{PAGE}/fake/do/pause" not in page.text
    await operator.submit(page, f"{PAGE}/fake/do/resume")
    assert (await lane_of(post))["gate"] == "open"
    lines = (await post.do("audit.list", who="mariem@risala.example"))["lines"]
    done = [line for line in lines if line["operation"].startswith("carriers.")]
    assert [line["operation"] for line in done] == ["carriers.resume", f"carriers.{action}"]
    assert {line["face"] for line in done} == {"console"}


async def test_from_its_own_page_one_comes_back_to_it(operator):
    page = await operator.get(f"{PAGE}/fake")
    done = await operator.submit(page, f"{PAGE}/fake/do/reconnect", {"back": "one"})
    assert done.location == f"{PAGE}/fake"
    assert "It reconnects." in (await operator.get(done.location)).text


async def test_what_there_is_not(operator):
    page = await operator.get(PAGE)
    assert (await operator.get(f"{PAGE}/nope")).status == 404
    done = await operator.submit(page, f"{PAGE}/nope/do/pause", drawn=False)
    assert done.status in (404, 422)
    assert (await operator.submit(page, f"{PAGE}/fake/do/explode", drawn=False)).location == PAGE


@sweep("typed", ["36 12 34 56", "%2B222 36123456", "%D9%A3%D9%A6123456"])
async def test_where_a_number_would_go(operator, typed):
    page = await operator.get(f"{PAGE}?to={typed}")
    assert "a message now goes by <bdi>fake</bdi>." in page.text
    assert "Mattel" in page.text
    assert "It takes the message." in page.text


async def test_why_a_number_goes_nowhere_now(post, operator):
    await post.do("carriers.pause", carrier="fake")
    page = await operator.get(f"{PAGE}?to=36123456")
    assert "a message waits" in page.text
    page = await operator.get(f"{PAGE}?to=12")
    assert "A Mauritanian number has 8 digits" in page.text
    assert page.status == 200


async def test_pace_and_weight_are_changed_and_given_back(post, operator):
    page = await operator.get(f"{PAGE}/fake")
    path = f"{PAGE}/fake/override"
    done = await operator.submit(page, path, {"rate_per_s": "2,5", "weight": "7"})
    assert done.location == f"{PAGE}/fake"
    override = (await lane_of(post))["override"]
    assert (override["rate_per_s"], override["weight"]) == (2.5, 7)
    assert override["who"] == "mariem@risala.example"
    page = await operator.get(f"{PAGE}/fake")
    assert "Changed here by <bdi>mariem@risala.example</bdi>" in page.text
    assert "Its pace or weight was changed here." in (await operator.get(PAGE)).text
    await operator.submit(page, f"{path}/end")
    assert (await lane_of(post))["override"] is None


@sweep("fields", [{"rate_per_s": "fast"}, {"weight": "0"}, {"weight": "1.5"}])
async def test_what_is_no_pace_is_refused_where_it_stands(post, operator, fields):
    page = await operator.get(f"{PAGE}/fake")
    refused = await operator.submit(page, f"{PAGE}/fake/override", fields)
    assert refused.status == 422
    (name,) = fields
    assert re.search(rf'id="{name}-fault"', refused.text)
    assert (await lane_of(post))["override"] is None


async def test_its_driver_is_asked_and_the_answer_is_shown_once(post, operator):
    page = await operator.get(f"{PAGE}/fake")
    given = {"command": "ussd", "arguments": "*100#"}
    asked = await operator.submit(page, f"{PAGE}/fake/ask", given)
    assert asked.status == 200
    assert '<code dir="auto">ussd</code>' in asked.text
    assert "*100#: &lt;i&gt;318&lt;/i&gt;" in asked.text
    (line,) = (await post.do("audit.list", operation="carriers.ask"))["lines"]
    assert "*100#" not in repr(line)
    assert "Answer to" not in (await operator.get(f"{PAGE}/fake")).text


async def test_a_driver_that_fills_nothing_and_proves_who_calls_has_no_such_pages(operator):
    assert "Secret address" not in (await operator.get(f"{PAGE}/fake")).text
    assert (await operator.get(f"{PAGE}/fake/address")).status == 404
    assert (await operator.get(f"{PAGE}/fake/live")).status == 404


CODES = {
    "draining": {"in_flight": 2},
    "leaving": {"in_flight": 1},
    "refused": {"status": "ESME_RBINDFAIL", "again_s": 30},
    "refused_for_good": {"status": "ESME_RINVPASWD", "again_s": None},
    "quota_used": {"limit": 500},
    "connects_again": {"again_s": 12},
    "resting": {"until": "2026-11-22T10:00:00.000Z"},
    "slowed": {"rate_per_s": 2.5, "rate_max_per_s": 10.0},
    "declined": {"note": "<i>no</i>", "until": None},
}


@sweep("code", CODES)
async def test_every_condition_is_a_sentence(post, code):
    loaded = await post.console.site.templates.load()
    for words in loaded.words.values():
        formats = Formats(words, ZoneInfo("Africa/Nouakchott"), "MRU", 0)
        sentence = reason_sentence(formats, CarrierCondition(code, CODES[code]))
        assert code not in sentence
        assert "<i>" not in sentence
    unknown = reason_sentence(formats, CarrierCondition("new_one", {}))
    assert unknown == "<code>new_one</code>"


async def test_what_went_over_the_link(post, operator, monkeypatch):
    """The protocol's lines as text, and nothing where nothing went."""
    page = await operator.get(f"{PAGE}/fake/traffic")
    assert "Nothing went over this link" in page.text
    sent = TrafficLine(1, AT_MS, sent=True, text="AT+CSQ", left_out=2)
    heard = TrafficLine(2, AT_MS, sent=False, text="<b>+CSQ: 20</b>", left_out=0)
    answering(monkeypatch, post, routes.TRAFFIC, lambda _: Traffic((sent, heard)))
    text = (await operator.get(f"{PAGE}/fake/traffic")).text
    assert text.index("&lt;b&gt;+CSQ: 20&lt;/b&gt;") < text.index("AT+CSQ")
    assert "2</bdi> earlier lines were not kept" in text
    assert (await operator.get(f"{PAGE}/nope/traffic")).status == 404


@sweep(("used", "drawn"), [(399, "<progress value"), (400, "warn"), (500, '"bad"'), (501, '"bad"')])
async def test_a_quota_that_is_nearly_used_up_is_seen(post, operator, monkeypatch, used, drawn):
    quota, signal = CarrierQuotas(day=CarrierQuota(used, 500)), CarrierSignal(-81, 3)

    def with_quota(found):
        (lane,) = found.carriers
        return Carriers((replace(lane, quota=quota, signal=signal),))

    answering(monkeypatch, post, state.LIST, with_quota)
    text = (await operator.get(PAGE)).text
    assert drawn in re.search(r"<progress[^>]*>", text)[0]
    assert '<bdi class="num nowrap">−81 dBm</bdi>' in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Bound.", "<q>Session ouverte.</q>"),
        ("No connection to a<b:1: refused.", "<bdi>a&lt;b:1</bdi>"),
        ("What others’ drivers say.", '<q dir="auto" lang="en">What others’ drivers say.</q>'),
    ],
)
def test_our_drivers_speak_the_reader_s_language(text, said):
    assert said in driver_said(load_words(Language.FRENCH), text)


async def test_a_carrier_s_page_is_in_the_reader_s_language(operator, monkeypatch, post):
    """Its facts, the life of its link and its commands; what others' drivers say is marked."""
    lives = ["up: Bound.", "the operator set it to open", "Somebody else’s <b>words</b>."]

    def of_smpp(found):
        facts = {"links": 2, "user_message_reference": "not known yet", "none": None}
        trace = tuple(TraceLine(AT_MS, each) for each in lives)
        commands = (replace(found.commands[0], summary="Ask now for the SIM's balance."),)
        return replace(found, driver="smpp", details=facts, trace=trace, commands=commands)

    answering(monkeypatch, post, state.SHOW, of_smpp)
    page = await operator.get(PAGE)
    await operator.submit(page, "/operator/language", {"language": "fr", "next": PAGE})
    text = (await operator.get(f"{PAGE}/fake")).text
    assert "<dt>Liaisons ouvertes</dt>" in text
    assert "<dd>pas encore connu</dd>" in text
    assert ">connecté\xa0: Session ouverte.</td>" in text
    assert ">l’exploitant l’a mis sur ouvert</td>" in text
    assert '<span dir="auto" lang="en">Somebody else’s &lt;b&gt;words&lt;/b&gt;.</span>' in text
    assert "</code> Demander maintenant le solde de la carte SIM.</li>" in text


async def test_carriers_with_messages_stand_side_by_side(post, operator, monkeypatch):
    assert "Side by side" not in (await operator.get(PAGE)).text, "one has nothing beside it"
    runs = (
        CarrierRun(carrier="sim-1", ended=40, delivered=39, median_ms=2000, most_ms=9000),
        CarrierRun(carrier="sim-2", ended=20, delivered=12, median_ms=4000, most_ms=18_000),
        CarrierRun(carrier="sim-3", ended=1, delivered=0, median_ms=None, most_ms=None),
    )
    answering(monkeypatch, post, LATEST, lambda each: replace(each, carriers=runs, since=AT_MS))
    page = (await operator.get(PAGE)).text
    assert "Side by side" in page
    for figure in ("97.5%", "60.0%", "0.0%"):
        assert figure in page, figure
    assert page.count('class="times"') == 2, "what delivered nothing has no time"
    widths = re.findall(r'class="f2" width="([0-9.]+)"', page)
    assert widths == ["50", "100"], "one scale for all"


@pytest.mark.parametrize("driver", ["modem", "modemmanager", "hilink"])
async def test_a_modem_s_page_says_which_way_it_takes_and_what_each_cannot_do(
    monkeypatch, post, operator, driver
):
    answering(monkeypatch, post, state.SHOW, lambda lane: replace(lane, driver=driver))
    text = (await operator.get(f"{PAGE}/fake")).text
    part = text[text.index('id="h-ways"') :]
    first = {"modem": "Its AT port", "modemmanager": "ModemManager"}.get(driver, "A HiLink stick")
    assert part.index(first) < part.index("(this carrier)")
    assert part.count("(this carrier)") == 1
    for lack in ("QMI, MBIM", "is left to ModemManager", "not told apart in reports"):
        assert lack in part


async def test_the_page_of_another_carrier_has_no_ways_to_a_modem(operator):
    assert "h-ways" not in (await operator.get(f"{PAGE}/fake")).text


async def test_a_carriers_page_says_how_it_did_lately(post, operator, monkeypatch):
    assert "Delivered lately" not in (await operator.get(f"{PAGE}/fake")).text
    run = CarrierRun(carrier="fake", ended=40, delivered=39, median_ms=2000, most_ms=9000)
    answering(monkeypatch, post, LATEST, lambda each: replace(each, carriers=(run,), since=AT_MS))
    page = (await operator.get(f"{PAGE}/fake")).text
    assert "Delivered lately" in page
    assert "97.5%" in page
    assert page.count('class="times"') == 1
