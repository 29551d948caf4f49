"""Verify's sessions: the list with its filters, one of them, and ending it."""

import pytest

from filter_sweep import refuse_place
from risala.engine.model.callers import Role
from risala.engine.model.records.record import to_json
from risala.engine.model.records.verify.sessions import Funnel
from web_verify import SESSION_ID, session

LIST = "/app/org_1/verify"
ONE = f"{LIST}/{SESSION_ID}0"


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == name]


async def test_each_session_stands_with_its_state_and_why_it_ended(owner):
    page = await owner.get(LIST)
    assert page.status == 200
    for word in ("Pending", "Approved", "Expired", "Canceled"):
        assert word in page.text
    assert "Too many wrong codes were entered." in page.text
    assert "The SMS with the code could not be sent." in page.text
    assert f'href="{LIST}/{SESSION_ID}3"' in page.text
    assert "before=1.ver_1" in page.text


async def test_the_figures_are_of_the_last_week_or_of_what_is_asked_for(owner, gateway):
    page = await owner.get(LIST)
    assert "1,240" in page.text
    assert "84.0%" in page.text
    (time,) = asked(gateway, "verify.figures")
    assert time["since"] == "2026-11-15T00:00:00+00:00"
    assert time["until"] == "2026-11-22T00:00:00+00:00"
    await owner.get(f"{LIST}?since=2026-11-01&until=2026-11-02")
    assert asked(gateway, "verify.figures")[1]["since"] == "2026-11-01T00:00:00+00:00"
    assert asked(gateway, "verify.figures")[1]["until"] == "2026-11-03T00:00:00+00:00"


async def test_filters_stand_in_the_address_and_can_be_taken_away(owner, gateway):
    page = await owner.get(f"{LIST}?q=36+12+34+56&status=expired&since=2026-11-01&before=5.ver_5")
    (wanted,) = asked(gateway, "verify.list")
    assert wanted["to"] == "+22236123456"
    assert wanted["status"] == "expired"
    assert wanted["before"] == "5.ver_5"
    assert page.text.count('class="chip"') == 3


@pytest.mark.parametrize("query", ["q=no+number", "before=%27", "until=x", "status=none", "mode=x"])
async def test_what_nobody_can_mean_is_refused(owner, gateway, query):
    refuse_place(gateway, "verify.list")
    page = await owner.get(f"{LIST}?{query}")
    assert page.status == 422
    assert "This filter is not understood" in page.text
    assert "<tr" not in page.text


async def test_the_last_digits_are_looked_for(owner, gateway):
    page = await owner.get(f"{LIST}?q=4220")
    assert asked(gateway, "verify.list")[0]["digits"] == "4220"
    assert 'Number with <code dir="auto">4220</code>' in page.text


async def test_an_id_leads_to_its_session(owner):
    assert (await owner.get(f"{LIST}?q=ver_abc")).location == f"{LIST}/ver_abc"


async def test_the_first_list_says_what_it_is_for(owner, gateway):
    nothing = {"sessions": [], "newer": None, "older": None, "lookedTo": None}
    gateway.answers["verify.list"] = nothing
    gateway.answers["verify.figures"] = to_json(Funnel(0, 0, 0, 0, 0, is_cut=False))
    page = await owner.get(LIST)
    assert "No code yet" in page.text
    assert 'class="filters"' not in page.text
    assert "No session matches" in (await owner.get(f"{LIST}?status=expired")).text


async def test_codes_behind_many_others_are_a_page_away(owner, gateway):
    looked_to = "2026-11-20T08:41:16.123Z"
    nothing = {"sessions": [], "newer": None, "older": "7", "lookedTo": looked_to}
    gateway.answers["verify.list"] = nothing
    page = await owner.get(f"{LIST}?mode=test")
    assert "No code yet" not in page.text
    assert "We looked back to" in page.text
    assert "before=7" in page.text


async def test_one_session_with_its_tries_and_its_sms(owner):
    page = await owner.get(ONE)
    assert page.status == 200
    assert '<bdi class="num">1</bdi> of' in page.text
    assert "We wait for the code until" in page.text
    assert "/app/org_1/messages/sms_" in page.text
    assert f'hx-sse:connect="{ONE}/live"' in page.text


async def test_one_that_ended_says_why_and_is_not_followed(owner, gateway):
    gateway.answers["verify.get"] = session(3)
    page = await owner.get(ONE)
    assert "Too many wrong codes were entered." in page.text
    assert "hx-sse:connect" not in page.text
    assert "/cancel" not in page.text


async def test_ending_one_is_asked_for_and_done(owner, gateway):
    question = await owner.get(f"{ONE}/cancel")
    assert "cannot be undone" in question.text
    page = await owner.submit(question, f"{ONE}/cancel")
    assert (page.status, page.location) == (303, ONE)
    assert asked(gateway, "verify.cancel") == [{"verification_id": f"{SESSION_ID}0"}]


async def test_a_session_of_the_other_mode_is_not_there(owner):
    assert (await owner.get(f"{ONE}?mode=test")).status == 404


async def test_a_viewer_looks_and_ends_nothing(reader_as):
    viewer = reader_as(Role.VIEWER)
    assert (await viewer.get(LIST)).status == 200
    page = await viewer.get(ONE)
    assert page.status == 200
    assert "End the session" not in page.text
    assert (await viewer.get(f"{LIST}/try")).status == 403


async def test_one_that_changes_is_drawn_anew(owner, short_streams):
    page = await owner.get(f"{ONE}/live")
    for piece in (f"state-{SESSION_ID}0", f"tries-{SESSION_ID}0", "told", "sms"):
        assert f'id="{piece}" hx-swap-oob="true"' in page.text


async def test_states_are_drawn_anew_and_no_row_comes_or_goes(owner, short_streams):
    page = await owner.get(f"{LIST}/live?status=pending")
    assert f'id="state-{SESSION_ID}0" hx-swap-oob="true"' in page.text
    assert 'id="funnel" hx-swap-oob="true"' in page.text
    assert "<tr" not in page.text


async def test_the_first_line_of_the_funnel_has_no_share_of_itself(owner):
    page = await owner.get(LIST)
    funnel = page.text.partition('id="funnel"')[2].partition("</section>")[0]
    assert funnel.count("%") == 2
    assert "0 expired" not in funnel
    assert "Sessions started" in funnel  # some are proofs without a code
    assert "ode" not in funnel


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
async def test_days_of_no_time_of_ours_are_refused(owner, day):
    assert (await owner.get(f"{LIST}?since={day}")).status == 422
    assert (await owner.get(f"/app/org_1/messages?until={day}")).status == 422


@pytest.mark.parametrize(
    ("method", "status", "to", "words"),
    [
        ("inbound_sms", "pending", "", ["Not proven yet", "We wait for the user's text until"]),
        ("missed_call", "pending", "+22236123456", ["We wait for the user's call until"]),
        ("inbound_sms", "approved", "+22236123456", ["The number is proven."]),
        ("missed_call", "canceled", "+22236123456", ["was to call once more"]),
    ],
)
async def test_without_a_code_it_says_what_the_user_does(owner, gateway, method, status, to, words):
    reason = "canceled" if status == "canceled" else None
    changes = {"status": status, "reason": reason, "to": to, "messageId": None}
    gateway.answers["verify.get"] = session(0, details={"method": method}, **changes)
    page = await owner.get(ONE)
    for each in (*words, "Without a code"):
        assert each in page.text.replace("&#39;", "'")
    for other in ("fixed code", "The right code", "The code itself"):
        assert other not in page.text
