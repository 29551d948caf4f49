"""Alarms until somebody answers by the API, for programs with a secret key."""

from __future__ import annotations

import trio

ONE, TWO = "+22236123456", "+22222123457"
NEW = {"name": "Cold room", "people": [f"{ONE} mon-fri 08:00-18:00", TWO]}


async def test_a_chain_is_made_shown_changed_and_deleted(bureau, autojump_clock):
    made = await bureau.ask("/api/alarms/chains/create", {**NEW, "intervalSeconds": 60})
    assert made["people"] == [f"{ONE} mon-fri 08:00-18:00", TWO]
    assert (made["word"], made["rounds"], made["language"]) == ("OK", 3, "en")
    assert "organizationId" not in made
    named = {"chainId": made["chainId"]}
    shown = await bureau.ask("/api/alarms/chains/get", named)
    assert (shown["chain"], shown["timeZone"]) == (made, "Africa/Nouakchott")
    assert TWO in shown["onDuty"]
    listed = await bureau.ask("/api/alarms/chains/list")
    assert listed == {"items": [made], "going": []}
    changed = await bureau.ask("/api/alarms/chains/update", {**named, "word": "VU", "rounds": 1})
    assert (changed["word"], changed["rounds"], changed["people"]) == ("VU", 1, made["people"])
    assert await bureau.ask("/api/alarms/chains/delete", named) == changed
    await bureau.ask("/api/alarms/chains/get", named, status=404)


async def test_an_alarm_is_raised_once_followed_and_ended(bureau, autojump_clock):
    made = await bureau.ask("/api/alarms/chains/create", {**NEW, "people": [ONE]})
    named = {"chainId": made["chainId"]}
    body = {**named, "text": "9 °C", "idempotencyKey": "cold-room-2026"}
    raised = await bureau.ask("/api/alarms/raise", body)
    assert (raised["state"], raised["text"]) == ("going", "9 °C")
    assert raised["raisedBy"].startswith("key_")
    which = {"alarmId": raised["alarmId"]}
    await trio.sleep(1)
    assert (await bureau.ask("/api/alarms/raise", body))["alarmId"] == raised["alarmId"]
    view = await bureau.ask("/api/alarms/get", which)
    assert [(each["number"], each["outcome"]) for each in view["past"]] == [(ONE, "sent")]
    assert view["past"][0]["messageId"].startswith("sms_")
    assert (await bureau.ask("/api/alarms/chains/list"))["going"] == [view["alarm"]]
    assert (await bureau.ask("/api/alarms/chains/get", named))["alarms"] == [view["alarm"]]
    ended = await bureau.ask("/api/alarms/end", which)
    assert (ended["state"], ended["nextAt"], ended["endedBy"]) == (
        *("ended", None),
        raised["raisedBy"],
    )
    again = await bureau.ask("/api/alarms/end", which, status=400)
    assert again["data"]["code"] == "CONFLICT"


async def test_what_is_wrong_is_named(bureau, autojump_clock):
    for wrong, member, code in (
        ({"people": ["nobody"]}, "people", "invalid_person"),
        ({"people": ["12"]}, "people", "invalid_phone_number"),
        ({"word": "stop"}, "word", "reserved_word"),
        ({"word": "two words"}, "word", "invalid_keyword"),
        ({"language": "de"}, "language", "unknown_word"),
    ):
        found = await bureau.refused("/api/alarms/chains/create", {**NEW, **wrong})
        assert found == [([member], code)], wrong
    body = {"chainId": "alc_none", "text": "9 °C"}
    await bureau.ask("/api/alarms/raise", body, status=404)
    await bureau.ask("/api/alarms/get", {"alarmId": "alm_none"}, status=404)


async def test_a_test_key_raises_trials_and_changes_nothing(bureau, autojump_clock):
    made = await bureau.ask("/api/alarms/chains/create", NEW)
    named = {"chainId": made["chainId"]}
    for path, body in (
        ("create", NEW),
        ("update", {**named, "rounds": 1}),
        ("delete", named),
    ):
        await bureau.ask(f"/api/alarms/chains/{path}", body, status=404, key="sk_test")
    raised = await bureau.ask("/api/alarms/raise", {**named, "text": "9 °C"}, key="sk_test")
    which = {"alarmId": raised["alarmId"]}
    await bureau.ask("/api/alarms/get", which, status=404)
    assert (await bureau.ask("/api/alarms/chains/get", named))["alarms"] == []
    assert (await bureau.ask("/api/alarms/end", which, key="sk_test"))["state"] == "ended"
