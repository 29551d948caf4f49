"""The three endpoints: their answers, every row of the specification's 7.2, the order of checks."""

import json
from datetime import datetime

import pytest
import trio

from cases import sweep
from risala.engine.model.errors import Draining, Overloaded, StorageFailed
from risala.engine.model.times import iso

TO = "+22236123456"
FIELDS = ["id", "to", "status", "attempts", "expiresAt", "createdAt", "updatedAt"]
PATHS = ("/api/verify/send", "/api/verify/check", "/api/verify/get")


async def test_a_code_is_sent_checked_and_done(desk, quick):
    verification_id = await desk.sent("pk_live")
    shown = await desk.shown(verification_id)
    assert list(shown) == FIELDS
    created = datetime.fromisoformat(shown["createdAt"])
    assert shown == {
        "id": verification_id,
        "to": TO,
        "status": "pending",
        "attempts": 0,
        "expiresAt": iso(round(created.timestamp() * 1000) + 600_000),
        "createdAt": shown["updatedAt"],
        "updatedAt": shown["createdAt"],
    }
    code = await desk.code()
    await trio.sleep(1)
    assert await desk.status(verification_id, "wrong", "pk_live") == "denied"
    after = await desk.shown(verification_id)
    assert (after["status"], after["attempts"]) == ("pending", 1)
    assert shown["createdAt"] == after["createdAt"] < after["updatedAt"] < after["expiresAt"]
    assert await desk.status(verification_id, code, "pk_live") == "approved"
    assert await desk.status(verification_id, code, "pk_live") == "denied"
    assert (await desk.shown(verification_id))["status"] == "approved"


async def test_a_secret_key_may_all_of_it(desk):
    verification_id = await desk.sent()
    assert await desk.status(verification_id, await desk.code()) == "approved"


async def test_bearer_is_as_good_as_x_api_key(desk):
    headers = {"authorization": f"Bearer {desk.keys['pk_live']}"}
    response = await desk.client.post(PATHS[0], json={"to": TO}, headers=headers)
    assert response.status_code == 200


async def test_the_last_attempt_cancels_and_answers_denied(desk):
    verification_id = await desk.sent()
    code = await desk.code()
    for _ in range(5):
        assert await desk.status(verification_id, "000") == "denied"
    shown = await desk.shown(verification_id)
    assert (shown["status"], shown["attempts"]) == ("canceled", 5)
    assert await desk.status(verification_id, code) == "denied"
    assert await desk.shown(verification_id) == shown


async def test_an_expired_code_is_denied_and_never_shown_pending(desk, quick):
    verification_id = await desk.sent()
    code = await desk.code()
    await trio.sleep(600)
    assert (await desk.shown(verification_id))["status"] == "expired"
    assert await desk.status(verification_id, code) == "denied"
    assert (await desk.shown(verification_id))["attempts"] == 0


async def test_locale_app_hash_and_origin(desk):
    await desk.configure(app_hashes=["FA+9qCX9VSu"], origins=["app.example"])
    await desk.sent(locale="fr", appHash="FA+9qCX9VSu", origin="app.example")
    code = await desk.code()
    text = desk.driver.submitted[0].text
    assert text.startswith("Votre code")
    assert text.endswith(f"\nFA+9qCX9VSu\n@app.example #{code}")


async def issues(response) -> set[tuple[str, str]]:
    assert response.status_code == 400
    payload = await response.get_json()
    return {(issue["path"][0], issue["code"]) for issue in payload["data"]["issues"]}


async def test_one_answer_names_every_fault(desk):
    unregistered = {"appHash": "AAAAAAAAAAA", "origin": "evil.test"}
    both = {("appHash", "not_registered"), ("origin", "not_registered")}
    assert await issues(await desk.send(**unregistered)) == both
    worse = await desk.send(to="36123456", locale="de", **unregistered)
    assert await issues(worse) == both | {
        ("to", "invalid_phone_number"),
        ("locale", "invalid_locale"),
    }
    await desk.configure(origins=["evil.test"])
    half = await desk.post(PATHS[0], {**unregistered, "appHash": 7, "origin": "evil.test"})
    assert await issues(half) == {("to", "required"), ("appHash", "not_a_string")}
    nul = await desk.send(appHash="AAAAAAAAAA\0", origin="other.test")
    assert await issues(nul) == {("appHash", "invalid_characters"), ("origin", "not_registered")}


async def test_null_is_omitted_and_what_is_unknown_is_ignored(desk):
    await desk.sent(locale=None, appHash=None, origin=None, channel="whatsapp")
    await desk.code()
    assert desk.driver.submitted[0].text.startswith("Your verification code")


@sweep(
    ("fields", "path", "code"),
    [
        ({"to": None}, "to", "required"),
        ({"to": 22236123456}, "to", "not_a_string"),
        ({"to": "22236123456"}, "to", "invalid_phone_number"),
        ({"to": "+22256123456"}, "to", "invalid_phone_number"),
        ({"to": "+2223612345"}, "to", "invalid_phone_number"),
        ({"to": TO + "\n"}, "to", "invalid_phone_number"),
        ({"to": "+222٣٦١٢٣٤٥٦"}, "to", "invalid_phone_number"),
        ({"to": TO + "\0"}, "to", "invalid_characters"),
        ({"locale": "de"}, "locale", "invalid_locale"),
        ({"locale": ""}, "locale", "invalid_locale"),
        ({"locale": 1}, "locale", "not_a_string"),
        ({"appHash": "AAAAAAAAAAA"}, "appHash", "not_registered"),
        ({"appHash": ""}, "appHash", "not_registered"),
        ({"appHash": "\ud800"}, "appHash", "invalid_characters"),
        ({"origin": "evil.example"}, "origin", "not_registered"),
        ({"origin": ["app.example"]}, "origin", "not_a_string"),
    ],
)
async def test_a_faulty_send_is_400_and_leaves_nothing(desk, refused, fields, path, code):
    before = desk.rows()
    payload = await refused(await desk.post(PATHS[0], {"to": TO} | fields), 400)
    assert payload["code"] == "BAD_REQUEST"
    (issue,) = payload["data"]["issues"]
    assert (issue["path"], issue["code"]) == ([path], code)
    assert desk.rows() == before


async def test_every_fault_at_once(desk, refused):
    payload = await refused(await desk.post(PATHS[0], {"to": "1", "locale": "de"}), 400)
    assert [issue["path"] for issue in payload["data"]["issues"]] == [["to"], ["locale"]]
    payload = await refused(await desk.post(PATHS[1], {}), 400)
    assert [issue["path"] for issue in payload["data"]["issues"]] == [["verificationId"], ["code"]]


@sweep(
    ("to", "code", "fault"),
    [
        ("+22236123450", None, "required"),
        ("+22236123451", "", "too_short"),
        ("+22236123452", "7" * 65, "too_long"),
        ("+22236123453", 123456, "not_a_string"),
        ("+22236123454", ["123456"], "not_a_string"),
        ("+22236123455", "12345\0", "invalid_characters"),
        ("+22236123456", "12345\udfff", "invalid_characters"),
    ],
)
async def test_a_code_that_is_none_is_400_and_no_attempt(desk, refused, to, code, fault):
    verification_id = await desk.sent(to=to)
    response = await desk.check(verification_id, code)
    payload = await refused(response, 400)
    (issue,) = payload["data"]["issues"]
    assert (issue["path"], issue["code"]) == (["code"], fault)
    assert b"12345" not in await response.get_data()
    assert (await desk.shown(verification_id))["attempts"] == 0


@sweep(("last", "code"), enumerate([" ", "7" * 64, "é", "١٢٣", "'; DROP TABLE", "🔑", "-1"]), repr)
async def test_any_other_string_is_a_failed_attempt(desk, last, code):
    verification_id = await desk.sent(to=f"+2223612345{last}")
    assert await desk.status(verification_id, code) == "denied"
    assert (await desk.shown(verification_id))["attempts"] == 1


async def test_spaces_and_arabic_indic_digits_are_forgiven(desk):
    verification_id = await desk.sent()
    code = (await desk.code()).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    assert await desk.status(verification_id, f"  {code}\n") == "approved"


@sweep("body", [b"", b"[]", b"{", b'"x"', b'{"to":"1","to":"2"}', b"\xff"])
@sweep("path", PATHS)
async def test_what_is_no_json_object_is_400(desk, refused, path, body):
    assert (await refused(await desk.post(path, body), 400))["code"] == "BAD_REQUEST"


class TestIds:
    @sweep("path", PATHS[1:])
    @sweep(("value", "code"), [("", "too_short"), (None, "required")])
    async def test_empty_or_missing_is_400(self, desk, refused, path, value, code):
        body = {"verificationId": value, "code": "1"}
        (issue,) = (await refused(await desk.post(path, body), 400))["data"]["issues"]
        assert (issue["path"], issue["code"]) == (["verificationId"], code)

    @pytest.mark.parametrize("key", ["sk_live", "pk_live"])
    async def test_unknown_foreign_and_malformed_are_the_same_404(self, desk, refused, key):
        own, other_mode = await desk.sent(), await desk.sent("sk_test")
        other = await desk.make_organization()
        created = await desk.perform("key.create", organization_id=other, type="secret")
        foreign = await desk.sent(created["value"])
        message_id = (await desk.perform("verify.get", verification_id=own))["messageId"]
        ids = [
            foreign, other_mode, message_id, own + "0", own.lower(), "ver_", "x", " ", "../../",
            "💥" * 500, "' OR 1=1 --", "ver_" + "0" * 32,
        ]  # fmt: skip
        bodies = set()
        for wanted in ids:
            calls = [desk.check(wanted, "123456", key)]
            if key == "sk_live":
                calls.append(desk.get(wanted))
            for call in calls:
                payload = await refused(await call, 404)
                bodies.add(json.dumps(payload | {"requestId": ""}))
        assert len(bodies) == 1
        assert (await desk.shown(foreign, created["value"]))["attempts"] == 0

    async def test_the_sms_of_a_code_is_no_message(self, desk, refused):
        shown = await desk.perform("verify.get", verification_id=await desk.sent())
        body = {"messageId": shown["messageId"]}
        await refused(await desk.post("/api/sms/get", body), 404)


class TestKeys:
    @pytest.mark.parametrize("key", ["pk_live", "pk_test"])
    async def test_a_publishable_key_may_not_get_nor_send_sms(self, desk, refused, key):
        verification_id = await desk.sent(key)
        for path, body in (
            (PATHS[2], {"verificationId": verification_id}),
            ("/api/sms", {"to": TO, "body": "x"}),
            ("/api/sms/get", {"messageId": "x"}),
            ("/api/sms/batch", {"messages": []}),
        ):
            assert (await refused(await desk.post(path, body, key), 403))["code"] == "FORBIDDEN"

    @sweep("path", PATHS)
    async def test_missing_invalid_and_disabled_keys_are_401(self, desk, refused, path):
        disabled = await desk.make_key("secret")
        await desk.perform("key.disable", key_id=disabled["key"]["id"])
        deleted = await desk.make_key()
        await desk.perform("key.delete", key_id=deleted["key"]["id"])
        for key in ("", "nonsense", "pk_live_" + "a" * 32, disabled["value"], deleted["value"]):
            payload = await refused(await desk.post(path, b"", key), 401)
            assert payload["code"] == "UNAUTHORIZED"
            assert not key or key not in payload["message"]

    @sweep("path", PATHS)
    @sweep("key", ["pk_live", "sk_live", "pk_test"])
    async def test_an_organization_that_is_not_active_is_403(self, desk, refused, path, key):
        await desk.perform("org.suspend", organization_id=desk.organization_id)
        assert "active" in (await refused(await desk.post(path, b"", key), 403))["message"]
        await desk.perform("org.resume", organization_id=desk.organization_id)

    @pytest.mark.parametrize("key", ["pk_test", "sk_test"])
    async def test_test_keys_cost_nothing_and_know_the_code(self, desk, key):
        await desk.configure(code_length=8, per_phone_per_hour=1)
        first, second = await desk.sent(key), await desk.sent(key)
        assert await desk.status(first, "00000000", key) == "approved"
        assert await desk.status(second, "00000001", key) == "denied"
        balance = await desk.perform("org.show", organization_id=desk.organization_id)
        assert balance["balance"] == "100.00"
        assert desk.driver.submitted == []


class TestRefusals:
    async def test_no_balance_is_402_and_leaves_nothing(self, desk, refused):
        poor = await desk.perform("org.create", name="Poor")
        key = await desk.perform("key.create", organization_id=poor["id"], type="publishable")
        before = desk.rows()
        payload = await refused(await desk.send(key["value"]), 402)
        assert (payload["code"], payload["data"]) == ("PAYMENT_REQUIRED", {})
        assert desk.rows() == before
        for _ in range(5):  # refused sends did not count for the hour either
            await refused(await desk.send(key["value"]), 402)
        await desk.perform("topup", organization_id=poor["id"], amount="0.50")
        await desk.sent(key["value"])

    async def test_codes_are_charged(self, desk):
        await desk.sent()
        shown = await desk.perform("org.show", organization_id=desk.organization_id)
        assert shown["balance"] == "99.50"

    @pytest.mark.parametrize("key", ["pk_live", "sk_live"])
    async def test_the_phones_hour_is_429_with_the_exact_wait(self, desk, quick, refused, key):
        for _ in range(5):
            await desk.sent(key)
            await trio.sleep(10.25)
        before = desk.rows()
        response = await desk.send(key)
        payload = await refused(response, 429)
        assert (payload["code"], payload["data"]) == ("TOO_MANY_REQUESTS", {"limit": "phone"})
        assert response.headers["retry-after"] == "3549"  # 3600 - 51.25, rounded up
        assert desk.rows() == before
        await desk.sent(key, to="+22246123456")
        await trio.sleep(3548.7)
        assert (await desk.send(key)).headers["retry-after"] == "1"
        await trio.sleep(0.05)
        await desk.sent(key)

    async def test_the_organizations_hour_is_429(self, desk, refused):
        await desk.configure(per_organization_per_hour=3)
        for n in range(3):
            await desk.sent(to=f"+2223612345{n}")
        response = await desk.send(to="+22236123459")
        assert (await refused(response, 429))["data"] == {"limit": "organization"}
        assert response.headers["retry-after"] == "3600"
        other = await desk.make_organization()
        created = await desk.perform("key.create", organization_id=other, type="secret")
        await desk.sent(created["value"])

    @pytest.mark.parametrize(
        ("error", "wait"), [(Overloaded, 1), (Draining, 5), (StorageFailed, 10)]
    )
    async def test_what_cannot_be_done_now_is_503(self, desk, refused, monkeypatch, error, wait):
        async def refuse(*_):
            raise error()

        monkeypatch.setattr(desk.gateway, "send_code", refuse)
        monkeypatch.setattr(desk.gateway, "check_code", refuse)
        for response in (await desk.send(), await desk.check("ver_1", "1")):
            assert (await refused(response, 503))["code"] == "SERVICE_UNAVAILABLE"
            assert response.headers["retry-after"] == str(wait)

    async def test_a_service_that_drains_is_503(self, desk, refused):
        desk.gateway.drain()
        response = await desk.send()
        await refused(response, 503)
        assert response.headers["retry-after"] == "5"

    @sweep("method", ["GET", "PUT", "DELETE", "PATCH"])
    @sweep("path", PATHS)
    async def test_another_method_is_405(self, desk, refused, path, method):
        response = await desk.client.open(path, method=method)
        assert (await refused(response, 405))["code"] == "METHOD_NOT_ALLOWED"
        assert response.headers["allow"] == ("POST" if path == PATHS[2] else "OPTIONS, POST")


@pytest.mark.parametrize("path", PATHS[:2])
async def test_the_order_of_checks(desk, quick, refused, path):
    """Each request has every fault that comes later, and nothing is left behind."""
    before = desk.rows()
    big, other = b" " * 70_000, {"content_type": "text/plain", "origin": "https://evil.example"}
    key = await desk.make_key(allowed_origins=["https://app.example"])
    await refused(await desk.post(path, big, "no", **other), 401)
    await desk.perform("org.suspend", organization_id=desk.organization_id)
    payload = await refused(await desk.post(path, big, key["value"], **other), 403)
    assert "active" in payload["message"]
    await desk.perform("org.resume", organization_id=desk.organization_id)
    payload = await refused(await desk.post(path, big, key["value"], **other), 403)
    assert "origin" in payload["message"]
    other["origin"] = "https://app.example"
    for _ in range(120 if path == PATHS[1] else 30):
        await refused(await desk.post(path, big, key["value"], **other), 415)
    payload = await refused(await desk.post(path, big, key["value"], **other), 429)
    assert payload["data"] == {"limit": "ip"}
    await trio.sleep(60)
    await refused(await desk.post(path, big, key["value"], **other), 415)
    await refused(await desk.post(path, big, key["value"]), 413)
    await refused(await desk.post(path, b" ", key["value"]), 400)
    assert desk.rows() == before


async def test_limits_come_before_the_balance(desk, refused):
    poor = await desk.make_organization("0.50")
    key = (await desk.perform("key.create", organization_id=poor, type="secret"))["value"]
    await desk.perform("verify.config", organization_id=poor, per_phone_per_hour=1)
    await desk.sent(key)
    await refused(await desk.send(key), 429)
    await refused(await desk.send(key, to="+22246123456"), 402)


class TestAtOnce:
    async def answers(self, desk, verification_id: str, codes: list[str]) -> list[str]:
        found: list[str] = []

        async def one(code: str) -> None:
            found.append(await desk.status(verification_id, code))

        async with trio.open_nursery() as nursery:
            for code in codes:
                nursery.start_soon(one, code)
        return found

    async def test_a_hundred_guesses_count_five(self, desk):
        verification_id = await desk.sent()
        assert await self.answers(desk, verification_id, ["wrong"] * 100) == ["denied"] * 100
        shown = await desk.shown(verification_id)
        assert (shown["status"], shown["attempts"]) == ("canceled", 5)

    async def test_the_right_code_thirty_times_is_approved_once(self, desk):
        verification_id = await desk.sent()
        found = await self.answers(desk, verification_id, [await desk.code()] * 30)
        assert sorted(found) == ["approved"] + ["denied"] * 29
