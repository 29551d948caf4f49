"""One mailing's page, over a gateway that tells one of each state."""

from __future__ import annotations

import pytest

import web_mailings
from risala.engine.features.mailings.records import (
    MailingSource,
    MailingState,
    MailingWait,
    RowState,
)
from risala.engine.features.tables.records import RowFault
from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, Invalid
from risala.engine.model.people import Language
from risala.http.dashboard.lists import one as faults
from risala.http.dashboard.mailings import words
from web_browser import assert_nothing_inline

AT = "/app/org_1/mailings"
DRAFT = f"{AT}/mlg_draft"


def asked(gateway, name):
    return [arguments for each, arguments in gateway.done if each == name]


def actions(page):
    found = {each.get("action") for tag, each in page.tags if tag == "form"}
    found |= {each.get("formaction") for tag, each in page.tags if tag == "button"}
    return {each for each in found if each and each.startswith(AT)}


@pytest.mark.parametrize(
    ("table", "kinds"),
    [
        (words.BADGES, MailingState),
        (words.WAITS, MailingWait),
        (faults.FAULTS, RowFault),
        (words.ROW_BADGES, RowState),
        (words.ROW_FILTERS, RowState),
        (words.SOURCES, MailingSource),
    ],
)
def test_everything_has_its_words(table, kinds):
    assert {*table} == {*kinds}


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("state", [*web_mailings.STATES, "wait_balance", "gone"])
async def test_a_mailing_of_each_state(reader_as, state, language):
    page = await reader_as(language=language).get(f"{AT}/mlg_{state}")
    assert page.status == 200
    assert "école-absences.xlsx" in page.text
    assert_nothing_inline(page)
    assert ("hx-sse:connect" in page.text) == (state != "draft")


@pytest.mark.parametrize("wait", MailingWait)
async def test_what_it_waits_for_is_told(owner, wait):
    page = await owner.get(f"{AT}/mlg_wait_{wait.value}")
    assert words.WAITS[wait] in page.text
    assert ("Top up" in page.text.partition("<main")[2]) == (wait is MailingWait.BALANCE)


async def test_a_draft_shows_people_price_and_what_is_left(owner):
    page = await owner.get(DRAFT)
    text = page.text.replace("<b", " <b")
    for told in ("Send to", "120", "240", "120.00", "12,360.50", "mauritel, mattel"):
        assert told in text
    assert '11</bdi> of <bdi class="num">131</bdi> rows need you' in page.text
    assert page.text.count('/start" data-dialog') == 1
    assert "السلام عليكم محمد 1" in page.text


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("", {"place": 1}),
        ("?row=131&step=next", {"row": 131, "step": "next"}),
        ("?row=131&step=random", {"row": 131, "step": "random"}),
        ("?row=131&step=x", {"row": 131}),
        ("?row=x&step=next", {"place": 1}),
    ],
)
async def test_the_text_of_other_people(owner, gateway, query, given):
    await owner.get(f"{DRAFT}{query}")
    assert asked(gateway, "mailing.person") == [{"mailing_id": "mlg_draft", **given}]


async def test_a_viewer_sees_and_does_nothing(reader_as):
    viewer = reader_as(Role.VIEWER)
    for state in web_mailings.STATES:
        page = await viewer.get(f"{AT}/mlg_{state}")
        assert page.status == 200
        assert actions(page) == set()
    for path in ("start", "stop", "delete", "rows/2"):
        assert (await viewer.get(f"{DRAFT}/{path}")).status == 403
    assert (await viewer.get(f"{AT}/mlg_done/rows/file")).status == 200


async def test_a_missing_one(owner):
    assert (await owner.get(f"{AT}/mlg_none")).status == 404


async def test_one_of_tests_is_shown_in_test_mode(owner, gateway):
    gateway.answers["mailing.show"] = web_mailings.view("mlg_draft", mode="test")
    assert (await owner.get(DRAFT)).location == f"{DRAFT}?mode=test"
    page = await owner.get(f"{DRAFT}?mode=test")
    assert "a test costs nothing" in page.text


async def test_a_stopped_one_says_what_was_not_sent(owner):
    page = await owner.get(f"{AT}/mlg_stopped")
    assert "Not sent" in page.text
    assert "120.00" not in page.text.partition("<main")[2]  # of all of them, not of those sent


async def test_too_little_money_is_told_before(owner, gateway):
    gateway.answers["mailing.show"] = web_mailings.view("mlg_draft", price="99999.00")
    page = await owner.get(DRAFT)
    assert "The balance is not enough for all." in page.text


async def test_the_text_is_saved(owner, gateway):
    page = await owner.get(DRAFT)
    fields = {"body": "Bonjour {{الولي}}", "from": ""}
    page = await owner.submit(page, f"{DRAFT}/text", fields)
    assert page.location == f"{DRAFT}#text"
    [given] = asked(gateway, "mailing.set")
    assert given == {
        "mailing_id": "mlg_draft", "text": "Bonjour {{الولي}}", "from": None, "version": 7,
    }  # fmt: skip


async def test_hours_pace_and_begin_are_saved(owner, gateway):
    fields = {"name": "Absences", "pace": "60", "from_hour": "9", "to_hour": "18"}
    fields["send_at"] = "2026-12-01T09:30"
    page = await owner.submit(await owner.get(DRAFT), f"{DRAFT}/settings", fields)
    assert page.location == f"{DRAFT}#when"
    [given] = asked(gateway, "mailing.set")
    assert (given["pace"], given["from_hour"], given["to_hour"]) == (60, 9, 18)
    assert given["send_at"] == "2026-12-01T09:30:00+00:00"
    page = await owner.get(DRAFT)
    await owner.submit(page, f"{DRAFT}/settings", {**fields, "pace": "", "send_at": ""})
    given = asked(gateway, "mailing.set")[-1]
    assert (given["pace"], given["send_at"]) == (None, None)


@pytest.mark.parametrize("pace", ["quick", "1.5"])
async def test_a_pace_that_is_no_number(owner, gateway, pace):
    fields = {"name": "My name", "pace": pace, "from_hour": "9", "to_hour": "18"}
    page = await owner.submit(await owner.get(DRAFT), f"{DRAFT}/settings", fields)
    assert page.status == 422
    assert "Write a number above 0." in page.text
    assert f'value="{pace}"' in page.text
    assert 'value="My name"' in page.text
    assert not asked(gateway, "mailing.set")


async def refused(gateway, name, error):
    perform = gateway.perform

    async def refuse(each, arguments, caller):
        if each == name:
            raise error
        return await perform(each, arguments, caller)

    gateway.perform = refuse


async def test_a_refused_text_stays_in_its_field(owner, gateway):
    page = await owner.get(DRAFT)
    await refused(gateway, "mailing.set", Invalid("text", "invalid_length", "It is too long."))
    page = await owner.submit(page, f"{DRAFT}/text", {"body": "Salam!", "from": ""})
    assert page.status == 422
    assert ">Salam!</textarea>" in page.text


async def test_a_file_is_read_in_another_way(owner, gateway):
    page = await owner.get(DRAFT)
    chosen = {"number_column": "2", "has_header": "no", "separator": "tab"}
    page = await owner.submit(page, f"{DRAFT}/read", {**chosen, "encoding": "windows-1256"})
    assert page.location == DRAFT
    assert asked(gateway, "mailing.read") == [
        {
            "mailing_id": "mlg_draft",
            "number_column": 2,
            "has_header": False,
            "separator": "\t",
            "encoding": "windows-1256",
        }
    ]


async def test_what_the_sheet_hides_is_counted_and_taken_in_by_one_click(
    owner, gateway, monkeypatch
):
    hiding = {"hiddenRows": 2, "hiddenColumns": 1, "encoding": "xlsx", "sheet": "People"}
    usual = web_mailings.mailing

    def hides(mailing_id="mlg_draft", **changes):
        return usual(mailing_id, **hiding, **changes)

    monkeypatch.setattr(web_mailings, "mailing", hides)
    page = await owner.get(DRAFT)
    assert "This is not read:" in page.text
    assert '2</bdi> rows · <bdi class="num">1</bdi> column<' in page.text
    assert 'name="with_hidden" value="yes"' in page.text
    await owner.submit(page, f"{DRAFT}/read", {"with_hidden": "yes", "sheet": "People"})
    hiding["withHidden"] = True
    page = await owner.get(DRAFT)
    assert "What the sheet hides is read too:" in page.text
    assert 'name="with_hidden" value="no"' in page.text
    await owner.submit(page, f"{DRAFT}/read", {"with_hidden": "no", "sheet": "People"})
    assert [each["with_hidden"] for each in asked(gateway, "mailing.read")] == [True, False]


async def test_a_mailing_is_started_once_after_a_question(owner, gateway):
    question = await owner.get(f"{DRAFT}/start")
    assert "120.00" in question.text
    for _ in range(2):
        page = await owner.submit(question, f"{DRAFT}/start", {})
        assert page.location == DRAFT
    assert asked(gateway, "mailing.start") == [{"mailing_id": "mlg_draft", "version": 7}]


async def test_a_start_that_is_refused(owner, gateway):
    question = await owner.get(f"{DRAFT}/start")
    await refused(gateway, "mailing.start", Conflict("The mailing has nobody to send to."))
    page = await owner.submit(question, f"{DRAFT}/start", {})
    assert page.status == 422
    assert "The mailing has nobody to send to." in page.text


@pytest.mark.parametrize(
    ("state", "act", "operation"),
    [
        ("sending", "pause", "mailing.pause"),
        ("paused", "go-on", "mailing.go_on"),
        ("sending", "stop", "mailing.stop"),
        ("paused", "stop", "mailing.stop"),
        ("stopped", "again", "mailing.again"),
        ("done", "again", "mailing.again"),
        ("done", "delete", "mailing.delete"),
        ("draft", "delete", "mailing.delete"),
    ],
)
async def test_what_is_done_with_it(owner, gateway, state, act, operation):
    page = await owner.get(f"{AT}/mlg_{state}")
    page = await owner.submit(page, f"{AT}/mlg_{state}/{act}")
    ends = {"again": DRAFT, "delete": AT}
    assert page.location == ends.get(act, f"{AT}/mlg_{state}")
    assert asked(gateway, operation) == [{"mailing_id": f"mlg_{state}"}]


@pytest.mark.parametrize(
    ("state", "acts"),
    [
        ("checking", {"delete"}),
        ("sending", {"pause", "stop", "settings"}),
        ("paused", {"go-on", "stop", "settings"}),
        ("done", {"again", "delete"}),
        ("gone", {"delete"}),
    ],
)
async def test_only_what_can_be_done_is_offered(owner, state, acts):
    page = await owner.get(f"{AT}/mlg_{state}")
    assert {each.rpartition("/")[2] for each in actions(page)} == acts


@pytest.mark.parametrize("question", ["start", "stop", "delete"])
async def test_questions_are_pages_too(owner, question):
    page = await owner.get(f"{AT}/mlg_sending/{question}")
    assert page.status == 200
    assert f"{AT}/mlg_sending/{question}" in actions(page)


@pytest.mark.parametrize(
    ("state", "told"), [("sending", 'id="progress"'), ("checking", 'id="checked"')]
)
async def test_progress_is_drawn_anew(owner, short_streams, state, told):
    page = await owner.get(f"{AT}/mlg_{state}/live")
    assert "text/event-stream" in page.headers["content-type"]
    assert told in page.text
    assert "data-reload" not in page.text


async def test_a_page_of_a_check_is_another_one_after_it(owner, short_streams):
    page = await owner.get(f"{AT}/mlg_draft/live")
    assert "data-reload" in page.text


async def test_a_missing_one_has_no_stream(owner):
    assert (await owner.get(f"{AT}/mlg_none/live")).status == 404


async def test_the_list(owner):
    page = await owner.get(AT)
    for word in ("being checked", "draft", "sending", "paused", "stopped", "done"):
        assert word in page.text
    assert f'href="{AT}/mlg_draft"' in page.text
    assert f'href="{AT}?older=7"' in page.text
    stopped = page.text.partition(f'href="{AT}/mlg_stopped"')[2].partition("</tr>")[0]
    assert ">–<" in stopped  # nobody got what the price of all is for
    assert "No mailing here" in (await owner.get(f"{AT}?older=7")).text


async def test_an_empty_list_says_what_it_is_for(owner, gateway):
    gateway.answers["mailing.list"] = {"mailings": [], "older": None}
    assert "No mailing yet" in (await owner.get(AT)).text


async def test_a_cursor_that_somebody_typed(owner, gateway):
    gateway.refuse = Invalid("older", "invalid_cursor", "No.")
    assert (await owner.get(f"{AT}?older=x")).status == 422


async def test_a_run_is_drawn_once_messages_are_made(owner):
    page = await owner.get("/app/org_1/mailings/mlg_sending")
    assert 'aria-label="Messages made, sent and delivered over time"' in page.text
    table = page.text.partition('id="h-run"')[2].partition("</table>")[0]
    assert table.count('<th scope="row">') == 24
    assert 'id="h-run"' not in (await owner.get(DRAFT)).text
