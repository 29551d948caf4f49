"""Webhook endpoints, managed by programs."""

import json

from cases import sweep

URL = "https://example.com/events"
PATHS = ("list", "create", "update", "delete", "rotate", "test", "deliveries", "replay")


async def made(bureau, key="sk_live", **fields):
    return await bureau.ask("/api/webhooks/create", {"url": URL, **fields}, key)


class Hooks:
    """What may be asked of one endpoint."""

    def __init__(self, bureau, endpoint_id, key="sk_live"):
        self.bureau, self.key = bureau, key
        self.this = {"endpointId": endpoint_id}

    async def ask(self, name, status=200, **fields):
        path = f"/api/webhooks/{name}"
        return await self.bureau.ask(path, self.this | fields, self.key, status)

    async def refused(self, name, **fields):
        return await self.bureau.refused(f"/api/webhooks/{name}", self.this | fields)


async def fail_all(bureau):
    """Have all deliveries failed, as after days of attempts."""
    await bureau.gateway.services.recorder.journal.commit(
        lambda conn: conn.execute("UPDATE webhook_delivery SET state = 'failed'")
    )


class TestEndpoints:
    async def test_from_its_making_to_its_end(self, bureau):
        whole = await made(bureau, types=["sms.sent"], headers={"Authorization": "Bearer 4711"})
        secret = whole.pop("secret")
        assert secret.startswith("whsec_")
        assert whole["headers"] == {"Authorization": "***"}
        assert (whole["mode"], whole["types"], whole["enabled"]) == ("live", ["sms.sent"], True)
        assert await bureau.ask("/api/webhooks/list") == {"items": [whole]}
        hooks = Hooks(bureau, whole["id"])
        changed = await hooks.ask("update", description="New", url=f"{URL}/2", enabled=False)
        assert (changed["description"], changed["url"]) == ("New", f"{URL}/2")
        assert (changed["enabled"], changed["disabledReason"]) == (False, "owner")
        assert changed["types"] == ["sms.sent"]
        assert await hooks.ask("update") == changed
        assert (await hooks.ask("update", enabled=True))["enabled"] is True
        turned = await hooks.ask("rotate")
        assert turned.pop("secret") != secret
        assert turned["oldSecretUntil"] is not None
        assert await hooks.refused("rotate") == {"code": "ROTATED_LATELY"}
        turned = await hooks.ask("rotate", atOnce=True)
        assert turned["oldSecretUntil"] is None
        gone = await hooks.ask("delete")
        assert (gone["id"], gone["deleted"]) == (whole["id"], True)
        assert await bureau.ask("/api/webhooks/list") == {"items": []}
        for name in PATHS[2:]:
            await hooks.ask(name, 404, **({"eventId": "evt_1"} if name == "replay" else {}))

    async def test_each_change_is_in_the_trail(self, bureau):
        hooks = Hooks(bureau, (await made(bureau))["id"])
        await hooks.ask("update", description="New", enabled=False)
        await hooks.ask("update", enabled=True)
        await hooks.ask("rotate")
        await hooks.ask("test")
        await fail_all(bureau)
        await hooks.ask("replay", since="2020-01-01T00:00:00Z")
        await hooks.ask("delete")
        lines = [each for each in bureau.trail() if each.face == "api"]
        assert [each.action for each in reversed(lines)] == [
            *("webhook.create", "webhook.update", "webhook.disable", "webhook.enable"),
            *("webhook.rotate", "webhook.test", "webhook.replay_failed", "webhook.delete"),
        ]
        assert {each.who for each in lines} == {bureau.key_ids["sk_live"]}
        assert {each.role for each in lines} == {"developer"}
        assert "whsec_" not in json.dumps([(each.before, each.after) for each in lines])

    async def test_secrets_are_told_by_making_and_rotating_alone(self, bureau):
        hooks = Hooks(bureau, (await made(bureau))["id"])
        answers = [await bureau.ask("/api/webhooks/list")]
        answers += [await hooks.ask(name) for name in ("update", "test", "deliveries", "delete")]
        assert "secret" not in {name for each in answers for name in each}
        assert "whsec_" not in json.dumps(answers)

    async def test_every_fault_at_once(self, bureau):
        many = {"url": "ftp://x", "types": ["sms.lost"], "description": "x" * 501}
        many |= {"headers": {"host": "x"}, "notify": "nobody"}
        faults = [
            (["description"], "too_long"),
            (["url"], "invalid_url"),
            (["types"], "invalid_type"),
            (["notify"], "invalid_address"),
            (["headers"], "invalid_header"),
        ]
        assert await bureau.refused("/api/webhooks/create", many) == faults
        other = {"endpointId": "whe_unknown"}
        assert await bureau.refused("/api/webhooks/update", many | other) == faults
        mixed = {"types": "sms.sent", "headers": {"a": 1}, "notify": "nobody", "enabled": "yes"}
        assert await bureau.refused("/api/webhooks/update", mixed) == [
            (["types"], "not_a_list"),
            (["headers"], "not_a_string"),
            (["endpointId"], "required"),
            (["enabled"], "not_a_flag"),
            (["notify"], "invalid_address"),
        ]
        assert await bureau.refused("/api/webhooks/create", {}) == [(["url"], "required")]
        assert await bureau.refused("/api/webhooks/create", {"url": "\0", "types": []}) == [
            (["url"], "invalid_characters"),
            (["types"], "missing"),
        ]

    async def test_twenty_are_the_most(self, bureau):
        for _ in range(20):
            await made(bureau)
        found = await bureau.refused("/api/webhooks/create", {"url": URL})
        assert found == {"code": "TOO_MANY_ENDPOINTS"}


class TestDeliveries:
    async def test_page_by_page_and_again(self, bureau):
        hooks = Hooks(bureau, (await made(bureau))["id"])
        owed = [await hooks.ask("test") for _ in range(3)]
        assert {each["type"] for each in owed} == {"webhook.test"}
        page = await hooks.ask("deliveries", limit=2)
        ids = [each["eventId"] for each in page["items"]]
        rest = await hooks.ask("deliveries", limit=2, before=page["next"])
        ids += [each["eventId"] for each in rest["items"]]
        assert ids == [each["eventId"] for each in reversed(owed)]
        assert rest["next"] is None
        back = await hooks.ask("deliveries", after=rest["previous"])
        assert [each["eventId"] for each in back["items"]] == ids[:2]
        assert await hooks.refused("replay", eventId=ids[0]) == {"code": "DELIVERY_PENDING"}
        await fail_all(bureau)
        assert (await hooks.ask("deliveries", state="pending"))["items"] == []
        assert len((await hooks.ask("deliveries", state="failed"))["items"]) == 3
        again = await hooks.ask("replay", eventId=ids[0])
        assert (again["eventId"], again["state"]) == (ids[0], "pending")
        done = await hooks.ask("replay", since="2020-01-01T00:00:00Z")
        assert (done["replayed"], done["done"]) == (2, True)
        none = await hooks.ask("replay", since="2020-01-01T00:00:00Z", until=done["until"])
        assert (none["replayed"], none["done"]) == (0, True)

    async def test_what_is_asked_wrongly(self, bureau):
        hooks = Hooks(bureau, (await made(bureau))["id"])
        event = (await hooks.ask("test"))["eventId"]
        both = {"eventId": event, "since": "2020-01-01T00:00:00Z"}
        assert await hooks.refused("replay") == [(["eventId"], "one_of_both")]
        assert await hooks.refused("replay", **both) == [(["eventId"], "one_of_both")]
        assert await hooks.refused("replay", since="now") == [(["since"], "invalid_time")]
        assert await hooks.refused("deliveries", state="lost", limit=0) == [
            (["limit"], "too_small"),
            (["state"], "unknown_word"),
        ]
        await hooks.ask("replay", 404, eventId="evt_unknown")
        await hooks.ask("update", enabled=False)
        for name in ("test", "replay"):
            more = {"eventId": event} if name == "replay" else {}
            assert await hooks.refused(name, **more) == {"code": "ENDPOINT_DISABLED"}


class TestWhose:
    async def test_other_organizations_and_modes_know_nothing_of_it(self, bureau):
        live, test = await made(bureau), await made(bureau, "sk_test")
        assert test["mode"] == "test"
        for key, mine in (("sk_live", live), ("sk_test", test)):
            items = (await bureau.ask("/api/webhooks/list", key=key))["items"]
            assert [each["id"] for each in items] == [mine["id"]]
        words = set()
        for key in ("sk_test", "other_sk_live", "other_sk_test"):
            hooks = Hooks(bureau, live["id"], key)
            for name in PATHS[2:]:
                fields = {"since": "2020-01-01T00:00:00Z"} if name == "replay" else {}
                words.add((await hooks.ask(name, 404, **fields))["message"])
        unknown = Hooks(bureau, "whe_unknown")
        words.add((await unknown.ask("test", 404))["message"])
        assert words == {"No webhook endpoint has this id."}
        assert (await bureau.ask("/api/webhooks/list"))["items"][0]["enabled"] is True

    @sweep("name", PATHS)
    async def test_publishable_keys_and_suspended_organizations_are_refused(self, bureau, name):
        path = f"/api/webhooks/{name}"
        for key in ("pk_live", "pk_test"):
            assert (await bureau.ask(path, key=key, status=403))["code"] == "FORBIDDEN"
        await bureau.perform("org.suspend", organization_id=bureau.organization_id)
        await bureau.ask(path, status=403)
        await bureau.perform("org.resume", organization_id=bureau.organization_id)


async def test_programs_choose_the_shape_of_received_messages(bureau):
    url = "https://example.com/c/kn/4711/receive"
    made = await bureau.ask("/api/webhooks/create", {"url": url, "shape": "rapidpro"})
    assert (made["shape"], made["template"], made["types"]) == ("rapidpro", "", ["sms.received"])
    this = {"endpointId": made["id"]}
    wish = {"shape": "json", "template": '{"t": "{{text}}"}'}
    found = await bureau.ask("/api/webhooks/update", {**this, **wish})
    assert {**found, **wish} == found
    for wrong, fault in (
        ({"template": "{"}, (["template"], "invalid_json")),
        ({"template": '{"t": "{{body}}"}'}, (["template"], "invalid_placeholder")),
        ({"shape": "kannel"}, (["url"], "invalid_words")),
        ({"types": ["sms.sent"]}, (["types"], "invalid_type")),
    ):
        assert await bureau.refused("/api/webhooks/update", {**this, **wrong}) == [fault]
    (listed,) = (await bureau.ask("/api/webhooks/list", {}))["items"]
    assert listed["template"] == wish["template"]
