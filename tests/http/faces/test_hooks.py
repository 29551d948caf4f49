"""Hooks over HTTP, with the real engine behind them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import count
from math import ceil

import pytest
import trio
from standardwebhooks import Webhook
from tests.http.faces.face_office import TO, open_office

from programs import business
from risala.config.model import LimitsSection
from risala.engine.features.hooks.receiving import HookReceiver
from risala.engine.features.hooks.rules.presets import CUSTOM
from risala.engine.features.hooks.rules.rates import HOOK_BURST_S, HOOK_STEPS_PER_S
from risala.engine.features.hooks.rules.reading import HOOK_STEPS_MAX
from risala.engine.features.hooks.rules.requests import HookRequest
from risala.engine.features.request_log.service import request_log
from risala.engine.model.errors import Invalid
from risala.http.faces.hooks import add_hooks

CODE = "845127"
IDS = count()
ALERTS = {
    "to": "fixed",
    "sends": "text",
    "proofs": ["bearer"],
    "answer": "json",
    "mapping": {"reads": "json", "text": "{{/title}} {{/body}}", "once": "/id"},
}
TEXTS = {
    "to": "request",
    "proofs": ["bearer", "basic", "header", "path"],
    "header": "X-Token",
    "answer": "json",
    "sends": "text",
    "mapping": {"reads": "any", "to": "to", "text": "text", "once": "id"},
}


def serve_hooks(office):
    clock = office.gateway.services.recorder.clock
    receiver = office.gateway.services.part(HookReceiver)
    add_hooks(office.app, office.gateway, receiver, office.settings, clock)


@pytest.fixture
async def office(tmp_path):
    async with open_office(tmp_path, {}) as opened:
        serve_hooks(opened)
        yield opened


async def hook(office, preset="supabase-auth", table=None, **more):
    if table is not None:
        preset, more["mapping"] = CUSTOM, json.dumps(table)
    made = await office.perform(
        "hook.create", organization_id=office.organization_id, preset=preset, **more
    )
    return made["hook"], made["secret"]


def place(found):
    return found["url"].partition("8080")[2]


async def gotrue(office, found, secret, number="22236123456", code=CODE, **more):
    """As Supabase Auth calls: a new id each time."""
    body = json.dumps({"user": {"phone": number}, "sms": {"otp": code}, **more.pop("body", {})})
    name = f"msg_{next(IDS)}"
    now = datetime.fromtimestamp(office.gateway.services.recorder.clock.now_ms() / 1000, UTC)
    signer = Webhook(secret.removeprefix("v1,"))
    headers = {
        "content-type": "application/json",
        "webhook-id": name,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signer.sign(name, now, body),
        **more,
    }
    answer = await office.client.post(place(found), headers=headers, data=body)
    return answer.status_code, await answer.get_data()


async def post(office, path, body, **headers):
    given = {"content-type": "application/json", **headers}
    answer = await office.client.post(path, headers=given, data=json.dumps(body))
    return answer.status_code, json.loads(await answer.get_data())


async def last_request(office, found):
    await office.gateway.services.part(request_log).flush()
    page = await office.perform(
        "request.list", organization_id=office.organization_id, key_id=found["id"]
    )
    return await office.perform("request.show", request_id=page["requests"][0]["requestId"])


async def test_a_code_of_supabase_arrives_hidden_and_once(office, autojump_clock):
    found, secret = await hook(office)
    assert secret.startswith("v1,whsec_")
    assert await gotrue(office, found, secret) == (200, b"{}")
    assert await gotrue(office, found, secret) == (200, b"{}")
    (message_id,) = office.messages()
    await office.wait_status(message_id, "sent")
    (segment,) = office.driver.submitted
    assert segment.text.startswith(f"Your verification code is {CODE}.")
    assert (segment.recipient, segment.urgent) == (TO, True)
    view, _ = office.gateway.show_message(message_id)
    assert (view.kind, view.api_key) == ("code", found["id"])
    await trio.sleep(62)
    assert await gotrue(office, found, secret) == (200, b"{}")
    assert await gotrue(office, found, secret, code="111111") == (200, b"{}")
    assert len(office.messages()) == 3
    listed = await office.perform("hook.list", organization_id=office.organization_id)
    assert listed["hooks"][0]["last4"] == secret[-4:]
    assert await office.is_clean()


async def test_a_request_that_somebody_repeats_sends_nothing(office, autojump_clock):
    found, secret = await hook(office)
    body, at = json.dumps({"user": {"phone": "22236123456"}, "sms": {"otp": CODE}}), 1_767_225_600
    name, now = "msg_seen", datetime.fromtimestamp(at, UTC)
    headers = {
        "content-type": "application/json",
        "webhook-id": name,
        "webhook-timestamp": str(at),
        "webhook-signature": Webhook(secret.removeprefix("v1,")).sign(name, now, body),
    }
    for wait_s, status in ((0, 200), (90, 200), (150, 200), (120, 401)):
        await trio.sleep(wait_s)
        answer = await office.client.post(place(found), headers=headers, data=body)
        assert answer.status_code == status
    assert len(office.messages()) == 1


async def test_two_tries_at_once_send_once(office, autojump_clock):
    found, secret = await hook(office)
    answers = []

    async def one():
        answers.append(await gotrue(office, found, secret))

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(one)
    assert answers == [(200, b"{}")] * 3
    assert len(office.messages()) == 1


async def test_who_does_not_prove_itself_learns_nothing(office, autojump_clock):
    found, secret = await hook(office)
    other, _ = await hook(office)
    refused = await gotrue(office, other, secret)
    assert refused[0] == 401
    missing = {**found, "url": found["url"][:-4] + "0000"}
    assert await gotrue(office, missing, secret) == refused
    assert office.messages() == []
    _, sentence = refused[0], json.loads(refused[1])["message"]
    assert sentence == "The hook is unknown, or the secret is wrong."


async def test_a_rotated_secret_works_beside_the_new_one_for_its_time(office, autojump_clock):
    found, secret = await hook(office)
    made = await office.perform("hook.rotate", hook_id=found["id"], overlap_s=60)
    assert (await gotrue(office, found, secret))[0] == 200
    assert (await gotrue(office, found, made["secret"], code="1111"))[0] == 200
    await trio.sleep(61)
    assert (await gotrue(office, found, secret))[0] == 401
    assert (await gotrue(office, found, made["secret"]))[0] == 200


async def test_a_disabled_a_suspended_and_a_deleted_one_are_refused_at_once(office):
    found, secret = await hook(office)
    whose = {"organization_id": office.organization_id}
    for refuse, let in (
        (("hook.disable", {"hook_id": found["id"]}), ("hook.enable", {"hook_id": found["id"]})),
        (("org.suspend", whose), ("org.resume", whose)),
    ):
        await office.gateway.perform(*refuse)
        status, body = await gotrue(office, found, secret)
        assert (status, json.loads(body)["error"]["http_code"]) == (403, 403)
        await office.gateway.perform(*let)
    assert (await gotrue(office, found, secret))[0] == 200
    await office.perform("hook.delete", hook_id=found["id"])
    assert (await gotrue(office, found, secret))[0] == 401
    assert len(office.messages()) == 1


async def test_a_secret_is_shown_as_its_program_takes_it(office):
    assert (await hook(office, "logto"))[1].startswith("Bearer ")
    found, secret = await hook(office, "logto", proof="path")
    assert found["url"].endswith(secret)


async def test_from_another_address_it_is_refused(office):
    found, secret = await hook(office, table=TEXTS, allowed_addresses=["203.0.113.0/24"])
    body = {"to": TO, "text": "hello"}
    status, told = await post(office, place(found), body, authorization=f"Bearer {secret}")
    assert (status, told["code"]) == (403, "address")
    await office.perform("hook.set", hook_id=found["id"], allowed_addresses=["0.0.0.0/0", "::/0"])
    receiver = office.gateway.services.part(HookReceiver)
    request = HookRequest(
        method="POST",
        query="",
        headers={"authorization": f"Bearer {secret}"},
        body=json.dumps(body).encode(),
        content_type="application/json",
        path_secret=None,
        at_s=0,
    )
    nowhere = await receiver.receive(found["id"], request, None)
    assert nowhere.answer.status == 403
    assert office.messages() == []


@pytest.mark.parametrize("proof", ["bearer", "basic", "header", "path"])
async def test_each_proof_is_asked_for(office, proof):
    found, secret = await hook(office, table=TEXTS, proof=proof)
    headers = {
        "bearer": {"authorization": f"Bearer {secret}"},
        "basic": {
            "authorization": "Basic "
            + __import__("base64").b64encode(f"x:{secret}".encode()).decode()
        },
        "header": {"x-token": secret},
        "path": {},
    }[proof]
    shown = await office.perform("hook.show", hook_id=found["id"])
    assert secret not in json.dumps(shown)
    good, bad = place(found), place(found)
    if proof == "path":
        bad = good[:-1] + ("A" if good[-1] != "A" else "B")
    wrong = {
        name: value[:-1] + ("x" if value[-1] != "x" else "y") for name, value in headers.items()
    }
    body = {"to": TO, "text": "hello"}
    assert (await post(office, bad, body, **wrong))[0] == 401
    assert office.messages() == []
    assert (await post(office, good, body, **headers))[0] == 200
    assert len(office.messages()) == 1


async def test_the_last_request_says_what_was_wrong_and_no_secret(office, autojump_clock):
    found, secret = await hook(office, table=TEXTS, proof="path")
    status, told = await post(office, place(found), {"to": "12", "text": "the secret text"})
    assert status == 400
    shown = await last_request(office, found)
    assert shown["answered"]["message"] == told["message"].replace("+2223612", "…")
    kept = json.dumps(shown)
    assert secret not in kept
    assert "secret text" not in kept
    assert shown["path"] == "/hooks/{id}"
    await post(office, place(found)[:-3], {"to": TO, "text": "not mine"})
    shown = await last_request(office, found)
    assert (shown["status"], shown["asked"]) == (401, None)
    assert shown["answered"]["message"] == "The secret is not this hook's."


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"to": "+33612345678", "text": "x"}, "France (FR) is not open here"),
        ({"to": [TO, TO], "text": "x"}, "`to`"),
        ({"to": {"number": TO}, "text": "x"}, "`to`"),
        ({"to": TO, "text": "x" * 1_600_000}, "characters"),
        ({"to": TO}, "`text` is missing"),
    ],
    ids=["abroad", "list", "object", "long", "none"],
)
async def test_what_cannot_be_sent_is_refused_in_a_sentence(office, body, says):
    found, secret = await hook(office, table=TEXTS)
    status, told = await post(office, place(found), body, authorization=f"Bearer {secret}")
    assert status in (400, 413)
    assert says in told["message"] or status == 413
    assert office.messages() == []


async def test_without_money_it_says_402(office):
    found, secret = await hook(office)
    whose = {"organization_id": office.organization_id}
    await office.gateway.perform("adjust", {**whose, "amount": "-100", "reason": "a test"})
    status, body = await gotrue(office, found, secret)
    assert (status, json.loads(body)["error"]["http_code"]) == (402, 402)


async def test_a_storm_becomes_one_message(office, autojump_clock):
    numbers = [TO, "+22236000001"]
    found, secret = await hook(office, table=ALERTS, numbers=numbers)
    key = {"authorization": f"Bearer {secret}"}
    for at in range(12):
        body = {"title": "<b>disk</b>", "body": f"full {at}", "id": f"a{at}"}
        assert (await post(office, place(found), body, **key))[0] == 200
    repeated = {"title": "disk", "body": "full 0", "id": "a0"}
    assert (await post(office, place(found), repeated, **key))[0] == 200
    assert len(office.messages()) == 10
    await trio.sleep(301)
    await office.driver.wait_submitted(12)
    texts = [each.text for each in office.driver.submitted]
    assert texts.count("7 more alerts. The first: <b>disk</b> full 5") == 2
    assert texts.count("<b>disk</b> full 0") == 2
    assert (await post(office, place(found), {"title": "disk", "body": "again"}, **key))[0] == 200
    assert await office.is_clean()


async def test_a_held_alert_outlives_the_service_and_leaves_once(tmp_path, autojump_clock):
    async with open_office(tmp_path, {}) as office:
        serve_hooks(office)
        found, secret = await hook(office, table=ALERTS, numbers=[TO], locale="fr")
        for at in range(7):
            await post(
                office,
                place(found),
                {"title": "disk", "body": str(at)},
                authorization=f"Bearer {secret}",
            )
    for _ in range(2):
        async with open_office(tmp_path, {}) as office:
            await trio.sleep(301)
            texts = [office.gateway.show_message(each)[0].body for each in office.messages()]
            assert len(texts) == 6
            assert texts[-1] == "2 autres alertes. La première : disk 5"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"preset": "nothing"}, "invalid_preset"),
        ({"preset": "supabase-auth", "proof": "bearer"}, "invalid_proof"),
        ({"preset": "supabase-auth", "numbers": [TO]}, "unexpected_numbers"),
        ({"preset": "supabase-auth", "secret": "short"}, "invalid_secret"),
        ({"preset": "zitadel", "proof": "timed-signature"}, "missing_secret"),
        ({"preset": "supabase-auth", "mapping": "{}"}, "invalid_mapping"),
        ({"preset": CUSTOM, "mapping": "nothing"}, "invalid_mapping"),
        ({"preset": CUSTOM, "mapping": json.dumps(ALERTS)}, "missing_numbers"),
        (
            {
                "preset": CUSTOM,
                "mapping": json.dumps(ALERTS),
                "numbers": [f"+222360000{each:02}" for each in range(21)],
            },
            "too_many_recipients",
        ),
    ],
)
async def test_a_hook_that_fits_no_program_is_not_made(office, given, code):
    with pytest.raises(Invalid) as refused:
        await office.perform("hook.create", organization_id=office.organization_id, **given)
    assert [each.code for each in refused.value.faults] == [code]


# -- how often


async def test_a_hook_that_is_called_too_often_answers_later(tmp_path, autojump_clock):
    async with open_office(tmp_path, {}, limits=LimitsSection(hook_requests_per_s=1)) as office:
        serve_hooks(office)
        found, secret = await hook(office, table=TEXTS)
        path, allowed = place(found), {"authorization": f"Bearer {secret}"}
        told = []
        for number in range(4):
            body = {"to": TO, "text": f"Salam {number}", "id": str(number)}
            told.append(await post(office, path, body, **allowed))
        assert [status for status, _ in told] == [200, 200, 503, 503]
        assert told[2][1]["code"] == "limited"
        assert len(office.messages()) == 2
        await trio.sleep(2)
        assert (await post(office, path, {"to": TO, "text": "Salam 2"}, **allowed))[0] == 200


async def test_without_a_balance_few_requests_are_read(office, autojump_clock):
    whose = (await office.gateway.perform("org.create", {"name": "Poor"}))["id"]
    made = await office.perform(
        "hook.create", organization_id=whose, preset=CUSTOM, mapping=json.dumps(TEXTS)
    )
    path, allowed = place(made["hook"]), {"authorization": f"Bearer {made['secret']}"}
    body = {"to": TO, "text": "Salam"}
    assert (await post(office, path, body, **allowed))[0] == 402
    assert [(await post(office, path, body, **allowed))[0] for _ in range(3)] == [503] * 3
    await office.perform("topup", organization_id=whose, amount="10")
    assert [(await post(office, path, body, **allowed))[0] for _ in range(3)] == [200] * 3


WIDE = {**TEXTS, "mapping": {**TEXTS["mapping"], "reads": "json", "text": "{{/x/*/a}}" * 40}}
"""Looks up more than one request may, in many items."""


async def test_work_beyond_the_budget_is_never_done_and_names_the_way_out(office, autojump_clock):
    found, secret = await hook(office, table=WIDE)
    body = {"to": TO, "x": [[]] * 15_000}
    status, told = await post(office, place(found), body, authorization=f"Bearer {secret}")
    assert (status, told["code"]) == (400, "too_much")
    assert "fewer items" in told["message"]
    assert office.messages() == []


async def test_the_work_of_a_hook_delays_its_organizations_next_requests(office, autojump_clock):
    found, secret = await hook(office, table=WIDE)
    other, other_secret = await hook(office, table=TEXTS)
    heavy = {"to": TO, "x": [[]] * 15_000}
    for _ in range(ceil(HOOK_BURST_S * HOOK_STEPS_PER_S / HOOK_STEPS_MAX)):
        _, told = await post(office, place(found), heavy, authorization=f"Bearer {secret}")
        assert told["code"] == "too_much"
    body, allowed = {"to": TO, "text": "Salam"}, {"authorization": f"Bearer {other_secret}"}
    status, told = await post(office, place(other), body, **allowed)
    assert (status, told["code"]) == (503, "limited")
    await trio.sleep(1)
    assert (await post(office, place(other), body, **allowed))[0] == 200


async def test_what_a_program_adds_to_an_address_without_a_secret(office, autojump_clock):
    """Uptime Kuma's *SMS Gateway* adds a path to the address, and gives the secret in a header."""
    found, secret = await hook(office, "uptime-kuma-sms")
    asked, key = {"to": TO, "body": "Shop is down"}, {"x-api-key": secret}
    path = f"{place(found)}/api/v1/sms/send"
    status, told = await post(office, path, asked, **key)
    assert (status, told["message"]) == (200, "Accepted.")
    assert (await post(office, place(found), asked, **key))[0] == 200
    for other in (f"{path}/more", f"{place(found)}/v1/sms/send", f"{place(found)}/x{path}"):
        assert (await post(office, other, asked, **key))[0] in (400, 404)
    assert (await post(office, path, asked))[0] == 401
    texts = [office.gateway.show_message(each)[0].body for each in office.messages()]
    assert texts == ["Shop is down"] * 2


async def test_chatwoot_s_messages_leave_and_all_else_is_passed_over(office, autojump_clock):
    found, secret = await hook(office, "chatwoot")
    # The address ends with the secret, where it is the way to prove who calls.
    path = place(found) if secret in place(found) else f"{place(found)}/{secret}"
    for program in (*business.CHATWOOT_BESIDE, business.CHATWOOT, business.CHATWOOT):
        status, _ = await post(office, path, json.loads(program.body))
        assert status == 200
    (message_id,) = office.messages()
    view = office.gateway.show_message(message_id)[0]
    assert (view.to, view.body) == (TO, "Your order is on its way.")
