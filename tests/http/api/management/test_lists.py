"""Lists: what is in them, whose it is, and how one goes through them."""

import pytest
import trio

from cases import sweep
from risala.engine.model.times import iso
from risala.http.api.management.cursors import ListName, read, written
from risala.plugins.contract import Inbound

TO = "+22236123456"
LISTS = (
    *("/api/sms/list", "/api/verify/list", "/api/inbound/list", "/api/ledger/list"),
    *("/api/senders/list", "/api/balance/get"),
)
PAGED = LISTS[:4]
HOUR_MS = 3_600_000


async def listed(bureau, path, body=None, key="sk_live"):
    return [each["id"] for each in (await bureau.ask(path, body, key))["items"]]


class TestMessages:
    async def test_items_are_what_get_answers(self, bureau, autojump_clock):
        ids = [await bureau.send(metadata={"n": str(n)}) for n in range(3)]
        await trio.sleep(1)
        page = await bureau.ask("/api/sms/list")
        got = [await bureau.ask("/api/sms/get", {"messageId": each}) for each in reversed(ids)]
        assert page == {"items": got, "next": None, "previous": None}
        assert [*page["items"][0]] == [*got[0]]

    async def test_pages_go_on_by_their_cursors_while_messages_arrive(self, bureau):
        ids = [await bureau.send() for _ in range(5)]
        first = await bureau.ask("/api/sms/list", {"limit": 2})
        late = [await bureau.send() for _ in range(3)]
        second = await bureau.ask("/api/sms/list", {"limit": 2, "before": first["next"]})
        third = await bureau.ask("/api/sms/list", {"limit": 2, "before": second["next"]})
        seen = [each["id"] for page in (first, second, third) for each in page["items"]]
        assert seen == ids[::-1]
        assert (first["previous"], third["next"]) == (None, None)
        back = await bureau.ask("/api/sms/list", {"limit": 2, "after": second["previous"]})
        assert [each["id"] for each in back["items"]] == ids[:2:-1]
        newest = await bureau.ask("/api/sms/list", {"limit": 100, "after": back["previous"]})
        assert [each["id"] for each in newest["items"]] == late[::-1]
        assert newest["previous"] is None

    async def test_twenty_are_usual_and_a_hundred_the_most(self, bureau):
        ids = [await bureau.send() for _ in range(25)]
        assert await listed(bureau, "/api/sms/list") == ids[:4:-1]
        assert await listed(bureau, "/api/sms/list", {"limit": None}) == ids[:4:-1]
        assert await listed(bureau, "/api/sms/list", {"limit": 100.0}) == ids[::-1]
        for limit, code in ((0, "too_small"), (101, "too_large"), ("1", "not_an_integer")):
            found = await bureau.refused("/api/sms/list", {"limit": limit})
            assert found == [(["limit"], code)]

    async def test_each_filter_leaves_what_it_says(self, bureau, autojump_clock):
        early = await bureau.send(sendAt=iso(bureau.clock.now_ms() + HOUR_MS))
        other = await bureau.send(to="+22246000000")
        await trio.sleep(10)
        now = iso(bureau.clock.now_ms())
        await trio.sleep(1)
        late = await bureau.send()
        await trio.sleep(1)

        async def ids(**body):
            return await listed(bureau, "/api/sms/list", body)

        assert await ids(status="pending") == [early]
        assert await ids(status="canceled") == []
        assert await ids(to="+22246000000") == [other]
        assert await ids(since=now) == [late]
        assert await ids(until=now) == [other, early]
        assert await ids(**{"from": "risala"}) == [late, other, early]
        assert await ids(**{"from": "Acme"}) == []
        assert await ids(to=None, status=None) == [late, other, early]

    async def test_a_sender_is_the_same_however_its_case(self, bureau):
        sender = await bureau.perform(
            "sender.request",
            organization_id=bureau.organization_id,
            name="Acme Shop",
            description="x" * 30,
        )
        await bureau.perform("sender.waive", sender_id=sender["id"])
        sent = await bureau.send(**{"from": "acme shop"})
        assert await listed(bureau, "/api/sms/list", {"from": "ACME  SHOP"}) == [sent]

    async def test_codes_are_not_among_them(self, bureau):
        await bureau.ask("/api/verify/send", {"to": TO})
        assert await listed(bureau, "/api/sms/list") == []

    async def test_every_fault_at_once(self, bureau):
        ledger = written(ListName.LEDGER, 1)
        body = {"limit": 1000, "before": ledger, "after": "?", "status": "gone", "to": "36123456"}
        body |= {"from": "?", "since": "yesterday", "until": "2026-01-01T00:00:00"}
        assert await bureau.refused("/api/sms/list", body) == [
            (["limit"], "too_large"),
            (["since"], "invalid_time"),
            (["until"], "missing_offset"),
            (["before"], "invalid_cursor"),
            (["after"], "invalid_cursor"),
            (["status"], "unknown_word"),
            (["to"], "invalid_phone_number"),
            (["from"], "invalid_sender"),
        ]

    async def test_one_goes_one_way_at_a_time(self, bureau):
        place = written(ListName.MESSAGES, 1)
        body = {"before": place, "after": place}
        assert await bureau.refused("/api/sms/list", body) == [(["after"], "both_ways")]

    @pytest.mark.parametrize("since", ["1000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"])
    async def test_times_of_any_year(self, bureau, since):
        await bureau.send()
        for path in PAGED:
            await bureau.ask(path, {"since": since})
            await bureau.ask(path, {"until": since})


class TestVerifications:
    async def test_items_are_what_get_answers(self, bureau):
        ids = []
        for number in (TO, "+22246000000"):
            made = await bureau.ask("/api/verify/send", {"to": number})
            ids.append(made["verificationId"])
        page = await bureau.ask("/api/verify/list", {"limit": 1})
        got = [await bureau.ask("/api/verify/get", {"verificationId": each}) for each in ids]
        assert page["items"] == [got[1]]
        rest = await bureau.ask("/api/verify/list", {"before": page["next"]})
        assert rest["items"] == [got[0]]
        assert rest["next"] is None
        assert await listed(bureau, "/api/verify/list", {"after": rest["previous"]}) == ids[1:]
        assert await listed(bureau, "/api/verify/list", {"to": TO}) == ids[:1]
        assert await listed(bureau, "/api/verify/list", {"status": "approved"}) == []
        assert await bureau.refused("/api/verify/list", {"status": "sent"}) == [
            (["status"], "unknown_word")
        ]


class TestCodeFigures:
    PATH, SINCE = "/api/verify/figures", "2025-12-30T00:00:00Z"

    async def test_each_mode_and_organization_has_its_own(self, bureau, autojump_clock):
        for key in ("sk_live", "sk_live", "sk_test"):
            await bureau.ask("/api/verify/send", {"to": TO}, key)
        await trio.sleep(1)
        since = iso(bureau.clock.now_ms() - 24 * HOUR_MS)
        live = await bureau.ask(self.PATH, {"since": since, "by": "key"})
        test = await bureau.ask(self.PATH, {"since": since}, "sk_test")
        assert (live["whole"]["asked"], test["whole"]["asked"]) == (2, 1)
        assert (live["whole"]["cost"], test["whole"]["cost"]) == ("1.00", "0.00")
        assert [each["of"] for each in live["items"]] == [bureau.key_ids["sk_live"]]
        assert (live["by"], test["by"], live["currency"]) == ("key", "day", "MRU")

    async def test_faults_are_told_with_their_member(self, bureau):
        assert await bureau.refused(self.PATH, {}) == [(["since"], "required")]
        some = {"since": "2026-11-21T00:00:00Z"}
        assert await bureau.refused(self.PATH, {**some, "by": "tag"}) == [(["by"], "unknown_word")]


class TestInbound:
    async def test_what_came_in(self, bureau, autojump_clock):
        await bureau.perform("inbound.route", organization_id=bureau.organization_id)
        await trio.sleep(1)
        for number, text in ((TO, "One"), ("+22246000000", "Two"), (TO, "Three")):
            now_ms = bureau.clock.now_ms()
            told = Inbound(number, "1234", text, now_ms, (text,), sent_at_ms=now_ms - 90_000)
            await bureau.driver.context.inbound(told)
            await trio.sleep(10)
        page = await bureau.ask("/api/inbound/list", {"limit": 2})
        assert [each["body"] for each in page["items"]] == ["Three", "Two"]
        first = page["items"][0]
        assert first == {
            "messageId": first["id"],
            "id": first["id"],
            "from": TO,
            "to": "1234",
            "body": "Three",
            "status": "received",
            "carrier": "fake",
            "receivedAt": first["receivedAt"],
            "sentAt": iso(now_ms - 90_000),
            "createdAt": first["receivedAt"],
        }
        rest = await bureau.ask("/api/inbound/list", {"limit": 2, "before": page["next"]})
        assert [each["body"] for each in rest["items"]] == ["One"]
        since = {"since": page["items"][1]["receivedAt"]}
        for body, texts in (
            ({"from": TO}, ["Three", "One"]),
            ({"to": "1234"}, ["Three", "Two", "One"]),
            ({"to": "4321"}, []),
            (since, ["Three", "Two"]),
            (since | {"from": TO, "limit": 1}, ["Three"]),
            ({"until": first["receivedAt"]}, ["Two", "One"]),
            ({"until": first["receivedAt"], "before": page["next"]}, ["One"]),
            ({"status": "received", "after": rest["previous"]}, ["Three", "Two"]),
        ):
            found = await bureau.ask("/api/inbound/list", body)
            assert [each["body"] for each in found["items"]] == texts, body
        assert (await bureau.ask("/api/inbound/list", key="sk_test"))["items"] == []
        assert (await bureau.ask("/api/inbound/list", key="other_sk_live"))["items"] == []


class TestMoney:
    async def test_the_ledger_page_by_page(self, bureau):
        sent = await bureau.send()
        page = await bureau.ask("/api/ledger/list", {"limit": 1})
        (charge,) = page["items"]
        assert {**charge, "id": "", "createdAt": ""} == {
            "id": "",
            "kind": "charge",
            "amount": "-0.50",
            "balanceAfter": "99.50",
            "reference": sent,
            "createdAt": "",
        }
        (topup,) = (await bureau.ask("/api/ledger/list", {"before": page["next"]}))["items"]
        assert (topup["kind"], topup["amount"], topup["balanceAfter"]) == (
            "topup",
            "100.00",
            "100.00",
        )
        assert {each["id"][:4] for each in (charge, topup)} == {"led_"}
        assert await listed(bureau, "/api/ledger/list", {"kind": "topup"}) == [topup["id"]]
        assert await listed(bureau, "/api/ledger/list") == [charge["id"], topup["id"]]
        assert await bureau.refused("/api/ledger/list", {"kind": "gift"}) == [
            (["kind"], "unknown_word")
        ]

    async def test_the_balance(self, bureau):
        await bureau.send()
        await bureau.perform(
            "org.set", organization_id=bureau.organization_id, low_balance="7", spend_cap="9"
        )
        assert await bureau.ask("/api/balance/get") == {
            "organizationId": bureau.organization_id,
            "balance": "99.50",
            "currency": "MRU",
            "lowBalance": "7.00",
            "spentToday": "0.50",
            "spendCap": "9.00",
        }
        other = await bureau.ask("/api/balance/get", key="other_sk_live")
        general = (await bureau.perform("price"))["lowBalance"]
        assert (other["lowBalance"], other["spendCap"]) == (general, None)
        assert other["spentToday"] == "0.00"

    async def test_a_test_key_learns_nothing_of_the_money(self, bureau):
        assert await bureau.ask("/api/balance/get", key="sk_test") == {
            "organizationId": bureau.organization_id,
            "balance": "0.00",
            "currency": "MRU",
            "lowBalance": None,
            "spentToday": "0.00",
            "spendCap": None,
        }
        assert (await bureau.ask("/api/ledger/list", key="sk_test"))["items"] == []


async def test_senders(bureau):
    await bureau.send()
    made = await bureau.perform(
        "sender.request", organization_id=bureau.organization_id, name="Acme", description="x" * 30
    )
    assert await bureau.ask("/api/senders/list") == {
        "items": [
            {
                "id": made["id"],
                "name": "Acme",
                "status": "pending",
                "reason": None,
                "volume": 1,
                "createdAt": made["createdAt"],
            }
        ]
    }
    assert await bureau.ask("/api/senders/list", key="other_sk_live") == {"items": []}


class TestWhose:
    async def test_another_organizations_and_another_modes_are_not_in_them(self, bureau):
        mine = {key: await bureau.send(key) for key in ("sk_live", "sk_test")}
        for key, sent in mine.items():
            code = await bureau.ask("/api/verify/send", {"to": TO}, key)
            assert await listed(bureau, "/api/sms/list", key=key) == [sent]
            sessions = await listed(bureau, "/api/verify/list", key=key)
            assert sessions == [code["verificationId"]]
        for path in PAGED[:3]:
            for key in ("other_sk_live", "other_sk_test"):
                assert await listed(bureau, path, key=key) == []

    async def test_a_cursor_of_another_organization_leads_nowhere_else(self, bureau):
        for _ in range(2):
            await bureau.send()
        place = (await bureau.ask("/api/sms/list", {"limit": 1}))["next"]
        theirs = await bureau.send("other_sk_live")
        body = {"after": place}
        assert await listed(bureau, "/api/sms/list", body, "other_sk_live") == [theirs]

    @sweep("path", LISTS)
    async def test_publishable_keys_and_suspended_organizations_are_refused(self, bureau, path):
        for key in ("pk_live", "pk_test"):
            assert (await bureau.ask(path, key=key, status=403))["code"] == "FORBIDDEN"
        assert (await bureau.ask(path, key="nobody", status=401))["code"] == "UNAUTHORIZED"
        await bureau.perform("org.suspend", organization_id=bureau.organization_id)
        assert (await bureau.ask(path, status=403))["code"] == "FORBIDDEN"
        await bureau.perform("org.resume", organization_id=bureau.organization_id)

    async def test_a_look_leaves_no_line_in_the_trail(self, bureau):
        await bureau.send()
        before = len(bureau.trail())
        for path in LISTS:
            await bureau.ask(path)
        assert len(bureau.trail()) == before


class TestCursors:
    @pytest.mark.parametrize("of", ListName)
    def test_they_come_back_as_they_went(self, of):
        for place in ("0", "7341098234"):
            cursor = written(of, place)
            assert cursor is not None
            assert read(of, cursor) == place
            for other in set(ListName) - {of}:
                with pytest.raises(ValueError, match="another list"):
                    read(other, cursor)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "=",
            "m",
            "bQ",
            "bTE=",
            "bS0x",
            "bTE5OTk5OTk5OTk5OTk5OTk5OTk5OTk5",
            "é" * 9,
            "A" * 200,
        ],
    )
    def test_what_is_none_is_refused(self, text):
        with pytest.raises(ValueError, match="cursor"):
            read(ListName.MESSAGES, text)

    @sweep("path", PAGED)
    @sweep("text", ["x", "~~~", "aa.bb", "0"])
    async def test_a_place_that_nobody_told_is_a_fault_or_an_empty_page(self, bureau, path, text):
        for of in ListName:
            for way in ("before", "after"):
                cursor = written(of, text)
                response = await bureau.post(path, {way: cursor})
                assert response.status_code in (200, 400)
