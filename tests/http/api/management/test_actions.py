"""Withdrawing messages and verifications, and what a text would cost."""

import trio

from cases import sweep
from risala.engine.model.times import iso
from risala.sms.code_texts.catalogue import built_in

TO = "+22236123456"
HOUR_MS = 3_600_000


async def scheduled(bureau, key="sk_live"):
    return await bureau.send(key, sendAt=iso(bureau.clock.now_ms() + HOUR_MS))


class TestCancel:
    async def test_a_pending_message_is_withdrawn_and_paid_back(self, bureau):
        sent = await scheduled(bureau)
        shown = await bureau.ask("/api/sms/cancel", {"messageId": sent})
        assert shown == await bureau.ask("/api/sms/get", {"messageId": sent})
        assert shown["status"] == "canceled"
        assert (await bureau.ask("/api/balance/get"))["balance"] == "100.00"
        line = bureau.trail()[0]
        assert (line.action, line.subject) == ("message.cancel", sent)
        assert (line.who, line.face) == (bureau.key_ids["sk_live"], "api")
        assert line.organization_id == bureau.organization_id

    async def test_what_has_left_is_not(self, bureau, autojump_clock):
        sent = await bureau.send()
        await trio.sleep(1)
        before = len(bureau.trail())
        body = {"messageId": sent}
        assert await bureau.refused("/api/sms/cancel", body) == {"code": "NOT_CANCELABLE"}
        twice = {"messageId": await scheduled(bureau)}
        await bureau.ask("/api/sms/cancel", twice)
        assert await bureau.refused("/api/sms/cancel", twice) == {"code": "NOT_CANCELABLE"}
        assert len(bureau.trail()) == before + 1

    async def test_only_ones_own_of_ones_own_mode(self, bureau):
        sent = await scheduled(bureau)
        code = await bureau.ask("/api/verify/send", {"to": TO})
        session = code["verificationId"]
        of_code = bureau.gateway.services.repositories._store.reader.execute(
            "SELECT message_id FROM verifications WHERE id = ?", (session,)
        ).fetchone()[0]
        words = set()
        for key, thing in (
            ("other_sk_live", sent),
            ("sk_test", sent),
            ("sk_live", "sms_unknown"),
            ("sk_live", of_code),
        ):
            answer = await bureau.ask("/api/sms/cancel", {"messageId": thing}, key, 404)
            words.add(answer["message"])
        assert len(words) == 1
        for key, thing in (("other_sk_live", session), ("sk_test", session), ("sk_live", "ver_")):
            await bureau.ask("/api/verify/cancel", {"verificationId": thing}, key, 404)
        shown = await bureau.ask("/api/sms/get", {"messageId": sent})
        assert shown["status"] == "pending"
        assert await bureau.refused("/api/sms/cancel", {}) == [(["messageId"], "required")]

    async def test_a_verification_is_ended_once(self, bureau):
        made = await bureau.ask("/api/verify/send", {"to": TO})
        shown = await bureau.ask("/api/verify/cancel", made)
        assert shown == await bureau.ask("/api/verify/get", made)
        assert shown["status"] == "canceled"
        line = bureau.trail()[0]
        assert (line.action, line.face) == ("verify.cancel", "api")
        assert await bureau.ask("/api/verify/cancel", made) == shown
        assert len([each for each in bureau.trail() if each.action == "verify.cancel"]) == 1


class TestEstimate:
    async def test_what_a_text_costs(self, bureau):
        assert await bureau.ask("/api/sms/estimate", {"to": TO, "body": "a" * 161}) == {
            "encoding": "gsm7",
            "segments": 2,
            "characters": 161,
            "price": "1.00",
            "currency": "MRU",
            "unicodeCharacters": [],
        }
        found = await bureau.ask("/api/sms/estimate", {"body": "It’s سلا"})
        assert (found["encoding"], found["segments"], found["characters"]) == ("ucs2", 1, 8)
        curly = {"character": "’", "index": 2, "suggestion": "'", "name": None}
        assert found["unicodeCharacters"][0] == curly
        assert (await bureau.ask("/api/balance/get"))["balance"] == "100.00"
        assert (await bureau.ask("/api/sms/estimate", {"body": "x"}, "sk_test"))["price"] == "0.00"

    async def test_the_lines_of_a_code_are_counted(self, bureau):
        app, page = "FA+9qCX9VSu", "app.example.org"
        await bureau.gateway.perform(
            "verify.config",
            {
                "organization_id": bureau.organization_id,
                "app_hashes": [app],
                "origins": [page],
            },
        )
        text = built_in()["ar"].code
        lines = {"appHash": app, "origin": page}
        found = await bureau.ask("/api/sms/estimate", {"body": text, **lines})
        assert (found["segments"], found["price"]) == (2, "1.00")
        of_app = await bureau.ask("/api/sms/estimate", {"body": text, "appHash": app})
        filled = text.replace("{{code}}", "000000").replace("{{expiry_minutes}}", "10")
        assert (of_app["segments"], of_app["characters"]) == (1, len(filled) + 1 + len(app))
        given = {"body": text, "appHash": "AAAAAAAAAAA", "origin": "other.example"}
        assert await bureau.refused("/api/sms/estimate", given) == [
            (["appHash"], "not_registered"),
            (["origin"], "not_registered"),
        ]

    async def test_every_fault_at_once(self, bureau):
        body = {"to": "36123456", "body": ""}
        assert await bureau.refused("/api/sms/estimate", body) == [
            (["body"], "too_short"),
            (["to"], "invalid_phone_number"),
        ]


@sweep("path", ["/api/sms/cancel", "/api/sms/estimate", "/api/verify/cancel"])
async def test_publishable_keys_and_suspended_organizations_are_refused(bureau, path):
    await bureau.ask(path, key="pk_live", status=403)
    await bureau.perform("org.suspend", organization_id=bureau.organization_id)
    await bureau.ask(path, status=403)
    await bureau.perform("org.resume", organization_id=bureau.organization_id)
