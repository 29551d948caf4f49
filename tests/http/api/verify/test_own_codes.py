"""Codes of the caller's own, and payments that a code is for: sealed until the session ends, wanted
by a check, gone afterwards."""

import re

import pytest
import trio

OWN = {"code": "4711"}
PAYMENT = {"amount": "1500.5", "currency": "MRU", "payee": " Café Nour "}
AS_EVER = ["id", "to", "status", "attempts", "expiresAt", "createdAt", "updatedAt"]


def stored(desk) -> list[tuple]:
    reader = desk.gateway.services.repositories._store.reader
    return reader.execute("SELECT secrets, sealed FROM session_details").fetchall()


def written(desk, tmp_path) -> bytes:
    return b"".join(path.read_bytes() for path in tmp_path.glob("risala.db*"))


async def check(desk, session: str, key: str = "sk_live", **body) -> tuple[int, dict]:
    response = await desk.post("/api/verify/check", {"verificationId": session, **body}, key)
    return response.status_code, await response.get_json()


async def denied(desk, session: str, **body) -> bool:
    status, payload = await check(desk, session, **body)
    assert status == 200, payload
    return payload == {"status": "denied"}


async def issues(desk, session: str, key: str = "sk_live", **body) -> list[tuple[str, str]]:
    status, payload = await check(desk, session, key, **body)
    assert status == 400, payload
    return [(each["path"][0], each["code"]) for each in payload["data"]["issues"]]


async def attempts(desk, session: str) -> int:
    return (await desk.shown(session))["attempts"]


class TestOwnCodes:
    async def test_one_is_sent_checked_once_and_told_to_nobody(self, desk, tmp_path):
        code = "80416273"  # of eight digits: four are in the file by chance, as of an id or a time
        await desk.configure(own_codes=True)
        session = await desk.sent(code=code)
        assert await desk.code() == code
        assert list(await desk.shown(session)) == AS_EVER
        ((names, sealed),) = stored(desk)
        assert names == "code"
        assert code.encode() not in sealed
        assert await desk.status(session, "80416274") == "denied"
        assert await desk.status(session, "٨٠٤١٦٢٧٣") == "approved"
        assert await desk.status(session, code) == "denied"
        assert stored(desk) == [("code", None)]
        assert code.encode() not in written(desk, tmp_path)

    async def test_its_number_of_digits_is_its_own(self, desk):
        await desk.configure(own_codes=True, code_length=6)
        for n, code in enumerate(("0000", "12345678"), 1):
            session = await desk.sent(code=code, to=f"+2223612345{n}")
            assert await desk.code(n) == code
            assert await desk.status(session, code) == "approved"

    async def test_it_is_refused_where_the_organization_has_not_allowed_it(self, desk, refused):
        before = desk.rows()
        payload = await refused(await desk.send(**OWN), 400)
        assert [each["code"] for each in payload["data"]["issues"]] == ["not_allowed"]
        assert "4711" not in str(payload)
        assert desk.rows() == before

    @pytest.mark.parametrize("code", ["471", "123456789", "47a1", "٤٧١١", "", 4711])
    async def test_anything_else_is_no_code(self, desk, refused, code):
        await desk.configure(own_codes=True)
        payload = await refused(await desk.send(code=code), 400)
        assert [each["path"] for each in payload["data"]["issues"]] == [["code"]]

    async def test_from_a_publishable_key_it_is_ignored(self, desk):
        await desk.configure(own_codes=True)
        session = await desk.sent("pk_live", **OWN)
        assert stored(desk) == []
        code = await desk.code()
        assert len(code) == 6
        assert await desk.status(session, code) == "approved"

    async def test_a_test_key_s_own_code_is_the_code(self, desk):
        await desk.configure(own_codes=True)
        session = await desk.sent("sk_test", **OWN)
        assert await desk.status(session, "0000", "sk_test") == "denied"
        assert await desk.status(session, "4711", "sk_test") == "approved"

    async def test_an_ended_session_s_is_gone_too(self, desk, quick):
        await desk.configure(own_codes=True, attempts_max=1, expiry_minutes=1)
        for n in range(3):
            session = await desk.sent(**OWN, to=f"+2223612345{n}")
            if n == 0:
                assert await desk.status(session, "wrong") == "denied"
            elif n == 1:
                await desk.post("/api/verify/cancel", {"verificationId": session})
        await trio.sleep(61)
        assert stored(desk) == [("code", None)] * 3

    async def test_a_caller_reports_what_it_found_out(self, desk):
        await desk.configure(own_codes=True)
        session = await desk.sent(**OWN)
        assert await denied(desk, session, reported="failed")
        assert await attempts(desk, session) == 1
        assert not await denied(desk, session, reported="approved")
        assert await denied(desk, session, reported="approved")
        assert (await desk.shown(session))["status"] == "approved"

    async def test_reports_are_counted_as_guesses_are(self, desk):
        await desk.configure(own_codes=True, attempts_max=2)
        session = await desk.sent(**OWN)
        for _ in range(2):
            assert await denied(desk, session, reported="failed")
        assert (await desk.shown(session))["status"] == "canceled"
        assert await denied(desk, session, reported="approved")

    async def test_of_another_session_nothing_can_be_reported(self, desk):
        session = await desk.sent(tags=["x"])
        for each in (session, await desk.sent()):
            assert await issues(desk, each, reported="approved") == [("reported", "not_own_code")]
            assert await attempts(desk, each) == 0

    async def test_a_report_is_one_of_two_words_and_stands_alone(self, desk):
        await desk.configure(own_codes=True)
        session = await desk.sent(**OWN)
        for body, told in (
            ({"reported": "maybe", "code": "4711"}, [("reported", "invalid_report")]),
            ({"reported": "approved", "code": "4711"}, [("code", "not_together")]),
            ({}, [("code", "required")]),
            ({"code": None, "reported": None}, [("code", "required")]),
        ):
            assert await issues(desk, session, **body) == told
        assert await attempts(desk, session) == 0

    async def test_from_a_publishable_key_a_report_is_ignored(self, desk):
        await desk.configure(own_codes=True)
        session = await desk.sent(**OWN)
        told = await issues(desk, session, "pk_live", reported="approved")
        assert told == [("code", "required")]
        _, payload = await check(desk, session, "pk_live", reported="approved", code="1234")
        assert payload == {"status": "denied"}

    async def test_without_its_row_nothing_is_approved(self, desk):
        await desk.configure(own_codes=True)
        own, paid = await desk.sent(**OWN), await desk.sent(**PAYMENT)
        code = await desk.code(2)
        journal = desk.gateway.services.recorder.journal
        await journal.commit(lambda conn: conn.execute("DELETE FROM session_details"))
        assert await denied(desk, own, code="4711")
        assert await denied(desk, own, reported="approved")
        assert await denied(desk, paid, code=code, **PAYMENT)
        assert await denied(desk, paid, code=code)


class TestPayments:
    async def test_the_text_names_it_and_no_row_does(self, desk, tmp_path):
        session = await desk.sent(**PAYMENT, locale="fr")
        code = await desk.code()
        (segment,) = desk.driver.submitted
        assert segment.text == (
            f"Votre code de vérification est {code}. Il expire dans 10 minutes.\n"
            "Paiement de 1500.50 MRU à Café Nour."
        )
        reader = desk.gateway.services.repositories._store.reader
        (body,) = reader.execute("SELECT body FROM message").fetchone()
        assert "{{payee}}" in body
        assert "Café Nour".encode() not in written(desk, tmp_path)
        same = {"amount": "1500.50", "currency": "MRU", "payee": "Cafe\u0301 Nour"}
        assert not await denied(desk, session, code=code, **same)
        assert stored(desk) == [("amount currency payee", None)]

    async def test_lines_for_autofill_stay_the_last_ones(self, desk):
        await desk.configure(origins=["shop.example"])
        await desk.sent(**PAYMENT, origin="shop.example")
        code = await desk.code()
        lines = desk.driver.submitted[0].text.split("\n")
        assert lines[1:] == ["Payment of 1500.50 MRU to Café Nour.", f"@shop.example #{code}"]

    async def test_what_it_costs_counts_the_words(self, desk):
        session = await desk.sent(**{**PAYMENT, "payee": "م" * 60})
        view = desk.gateway.show_message(
            (await desk.perform("verify.get", verification_id=session))["messageId"]
        )[0]
        assert (view.encoding, view.segments) == ("ucs2", 3)

    @pytest.mark.parametrize(
        "other",
        [
            *({"amount": "1500.51"}, {"amount": "1500.501"}, {"amount": "15005"}),
            *({"currency": "EUR"}, {"payee": "Cafe Nour"}, {"payee": "café Nour"}),
        ],
    )
    async def test_another_one_is_denied_and_counts(self, desk, other):
        session = await desk.sent(**PAYMENT)
        code = await desk.code()
        assert await denied(desk, session, code=code, **{**PAYMENT, **other})
        assert await attempts(desk, session) == 1
        assert not await denied(desk, session, code=code, **PAYMENT)

    @pytest.mark.parametrize("name", ["amount", "currency", "payee"])
    async def test_a_missing_one_is_asked_for_and_nothing_counts(self, desk, name):
        session = await desk.sent(**PAYMENT)
        code = await desk.code()
        for key in ("sk_live", "pk_live"):
            told = await issues(desk, session, key, code=code, **{**PAYMENT, name: None})
            assert told == [(name, "required")]
        assert await attempts(desk, session) == 0
        assert (await desk.shown(session))["status"] == "pending"

    async def test_a_page_may_check_it_too(self, desk):
        session = await desk.sent(**PAYMENT)
        code = await desk.code()
        _, payload = await check(desk, session, "pk_live", code=code, **PAYMENT)
        assert payload == {"status": "approved"}

    async def test_a_session_that_is_over_denies_whatever_is_said(self, desk):
        session = await desk.sent(**PAYMENT)
        await desk.post("/api/verify/cancel", {"verificationId": session})
        assert await denied(desk, session, code="123456")

    async def test_of_a_session_without_one_it_is_not_looked_at(self, desk):
        session = await desk.sent()
        assert not await denied(desk, session, code=await desk.code(), **PAYMENT)

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ({"amount": "1"}, [("currency", "required"), ("payee", "required")]),
            ({**PAYMENT, "amount": "1.505"}, [("amount", "invalid_amount")]),
            ({**PAYMENT, "amount": "-1"}, [("amount", "invalid_amount")]),
            ({**PAYMENT, "amount": 5}, [("amount", "not_a_string")]),
            ({**PAYMENT, "currency": "mru"}, [("currency", "invalid_currency")]),
            ({**PAYMENT, "payee": "evil.example"}, [("payee", "invalid_payee")]),
            ({**PAYMENT, "payee": "  "}, [("payee", "invalid_payee")]),
            ({**PAYMENT, "payee": "x" * 61}, [("payee", "too_long")]),
        ],
    )
    async def test_what_is_no_payment_is_refused(self, desk, refused, given, told):
        payload = await refused(await desk.send(**given), 400)
        faults = [(each["path"][0], each["code"]) for each in payload["data"]["issues"]]
        assert faults == told

    @pytest.mark.parametrize("name", PAYMENT)
    async def test_from_a_publishable_key_each_is_ignored(self, desk, name):
        await desk.sent("pk_live", **{name: PAYMENT[name]})
        assert stored(desk) == []
        await desk.driver.wait_submitted(1)
        assert not re.search("Payment|MRU", desk.driver.submitted[0].text)

    async def test_a_report_has_to_name_it_too(self, desk):
        await desk.configure(own_codes=True)
        session = await desk.sent(**OWN, **PAYMENT)
        assert len(await issues(desk, session, reported="approved")) == 3
        assert await denied(desk, session, reported="approved", **{**PAYMENT, "amount": "1"})
        assert not await denied(desk, session, reported="approved", **PAYMENT)
