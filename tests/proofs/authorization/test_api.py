"""Each address of the API, asked by each kind of caller."""

from __future__ import annotations

import json

import pytest
from proofs.authorization.expected import API, ASKED, IN, THINGS, Asker, Door

pytestmark = pytest.mark.slow
WALKED = {path: door for path, door in API.items() if door in ASKED[Asker.NOBODY]}
IDS = {
    "/api/sms/get": {"messageId": "message_id"},
    "/api/sms/cancel": {"messageId": "message_id"},
    "/api/verify/get": {"verificationId": "verification_id"},
    "/api/verify/check": {"verificationId": "verification_id"},
    "/api/verify/resend": {"verificationId": "verification_id"},
    "/api/verify/cancel": {"verificationId": "verification_id"},
    "/api/conversations/get": {"conversationId": "conversation_id"},
    "/api/conversations/reply": {"conversationId": "conversation_id"},
    "/api/conversations/mark": {"conversationId": "conversation_id"},
    "/api/answers/update": {"ruleId": "rule_id"},
    "/api/answers/delete": {"ruleId": "rule_id"},
    "/api/repeats/get": {"repeatId": "repeat_id"},
    "/api/repeats/update": {"repeatId": "repeat_id"},
    "/api/repeats/pause": {"repeatId": "repeat_id"},
    "/api/repeats/resume": {"repeatId": "repeat_id"},
    "/api/repeats/end": {"repeatId": "repeat_id"},
    "/api/repeats/delete": {"repeatId": "repeat_id"},
    "/api/alarms/chains/get": {"chainId": "chain_id"},
    "/api/alarms/chains/update": {"chainId": "chain_id"},
    "/api/alarms/chains/delete": {"chainId": "chain_id"},
    "/api/alarms/raise": {"chainId": "chain_id"},
    "/api/alarms/get": {"alarmId": "alarm_id"},
    "/api/alarms/end": {"alarmId": "alarm_id"},
    "/api/opt-outs/words/add": {"listId": "list_id"},
    "/api/opt-outs/lists/add": {"listId": "list_id"},
    "/api/opt-outs/lists/remove": {"listId": "list_id"},
    "/api/webhooks/update": {"endpointId": "endpoint_id"},
    "/api/webhooks/delete": {"endpointId": "endpoint_id"},
    "/api/webhooks/rotate": {"endpointId": "endpoint_id"},
    "/api/webhooks/test": {"endpointId": "endpoint_id"},
    "/api/webhooks/deliveries": {"endpointId": "endpoint_id"},
    "/api/webhooks/replay": {"endpointId": "endpoint_id"},
}
"""What has an id in its body, and whose."""
BESIDE = {
    "/api/opt-outs/words/add": {"word": "sport", "role": "list", "language": "fr"},
    "/api/opt-outs/lists/add": {"number": "+22236123456"},
    "/api/opt-outs/lists/remove": {"number": "+22236123456"},
    "/api/conversations/reply": {"body": "Hello"},
    "/api/alarms/raise": {"text": "Warm"},
    "/api/verify/check": {"code": "000000"},
    "/api/webhooks/update": {"description": "x"},
    "/api/webhooks/replay": {"since": "2026-01-01T00:00:00Z"},
}
OF_BOTH = {"/api/alarms/chains/get", "/api/alarms/raise"}
"""Chains of alarms have no mode: a test key raises trials by them."""


GETS = ("/healthz", "/readyz", "/openapi.json", "/docs", "/clients/", "/metrics")
"""What their paths begin with."""


async def ask(city, path, body=None, **headers):
    """By whichever method it has, from another machine."""
    is_get = path.startswith(GETS)
    return await city.api.test_client(use_cookies=False).open(
        path.replace("<name>", "docs.css"),
        method="GET" if is_get or "<name>" in path else "POST",
        headers={"content-type": "application/json", "host": "risala.example"} | headers,
        data=b"" if is_get or "<name>" in path else json.dumps(body or {}),
        scope_base={"client": ("203.0.113.7", 9)},
    )


def credentials(city, asker):
    """The headers by which a caller tries, one at a time."""
    if asker is Asker.NOBODY:
        return [{}, {"x-api-key": ""}, {"authorization": "Bearer"}]
    found = [{name: value} for key in city.keys[asker] for name, value in both(key)]
    if asker is Asker.SESSION:
        found.append({"cookie": f"risala={city.keys[asker][0]}"})
    return found


def both(key):
    return ("x-api-key", key), ("authorization", f"Bearer {key}")


async def test_each_caller_gets_at_each_address_what_is_expected(city):
    before = await city.digest()
    for path, door in WALKED.items():
        for asker, told in ASKED.items():
            for headers in credentials(city, asker):
                answer = await ask(city, path, **headers)
                where = (path, asker, answer.status_code, await answer.get_data())
                if told[door] == IN:
                    assert answer.status_code not in (401, 403, 405, 500), where
                else:
                    assert answer.status_code == told[door], where
    assert await city.digest() == before, "an empty body does nothing, whoever sends it"


async def test_whoever_is_not_on_this_machine_has_no_metrics(city):
    for asker in Asker:
        for headers in credentials(city, asker):
            assert (await ask(city, "/metrics", **headers)).status_code == 404


async def test_a_face_takes_nothing_but_its_own_credential(city):
    """Not a key, nor another face's, nor anybody's without a password."""
    before, things = await city.digest(), city.things["own"]
    wrong = [(things["value"], things["value"]), ("own", things["value"]), ("own", ""), ("", "")]
    for name, password in [*wrong, ("other", things["password"])]:
        query = f"username={name}&password={password}&to=%2B22236123456&text=x"
        answer = await city.api.test_client().get(f"/cgi-bin/sendsms?{query}")
        assert answer.status_code == 403, name
        query = f"app=ws&op=pv&u={name}&h={password}&to=%2B22236123456&msg=x"
        answer = await city.api.test_client().get(f"/index.php?{query}")
        assert answer.status_code == 403, name
    answer = await city.api.test_client().post(
        "/2010-04-01/Accounts/own/Messages.json",
        headers={"authorization": "Basic b3duOng=", "x-api-key": things["value"]},
    )
    assert answer.status_code == 401
    assert await city.digest() == before


async def test_what_is_anothers_is_not_found_by_its_id(city):
    """Of another organization, and one's own of the other mode; as what is not there at all."""
    before, ours = await city.digest(), city.keys[Asker.SECRET]
    other, own = city.things["other"], city.things["own"]
    tried = set()
    for path, ids in IDS.items():
        assert WALKED[path] in (Door.SECRET, Door.CODES)
        for name, place in ids.items():
            said = {**BESIDE.get(path, {})}
            tried.add(name)
            for key in ours:
                answers = []
                for value in (other[place], other[place][:-6] + "000000"):
                    answer = await ask(city, path, {**said, name: value}, **{"x-api-key": key})
                    payload = await answer.get_json()
                    payload.pop("requestId")
                    answers.append((answer.status_code, payload))
                assert answers[0] == answers[1], path
                assert answers[0][0] == 404, path
            if path in OF_BOTH:
                continue
            # A live key, and what is the test mode's; or a test key, and what is live.
            crossed = ours[0] if place == "verification_id" else ours[1]
            answer = await ask(city, path, {**said, name: own[place]}, **{"x-api-key": crossed})
            assert answer.status_code == 404, path
    # An event's id stands beside its endpoint's, which is looked at first.
    assert tried | {"eventId"} == set(THINGS)
    assert await city.digest() == before


async def test_a_list_holds_nothing_of_another_organization(city):
    other = city.things["other"]
    for path in (each for each in API if each.endswith("/list")):
        for key in city.keys[Asker.SECRET]:
            answer = await ask(city, path, {}, **{"x-api-key": key})
            text = (await answer.get_data()).decode()
            assert answer.status_code == 200
            assert not [value for value in other.values() if len(value) > 20 and value in text]
