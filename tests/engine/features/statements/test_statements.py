"""The statement of a month: what each day cost, by what was sent, and what was paid."""

import json
from collections import Counter
from datetime import date

import pytest

from risala.config.payments import BillingSection
from risala.engine.features.statements import rules, stored
from risala.engine.features.statements.records import SENDERS_MAX
from risala.engine.model.commands import Principal
from risala.engine.model.errors import Invalid
from risala.engine.model.money import minor_units, money
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import PRIORITY_MAILING, Mode

DAY_S = 86_400
BEGAN = 1_000_000


@pytest.fixture
async def house(open_house, quick):
    async with open_house() as house:
        # The clock of tests begins at no particular time: it is the tenth of a month from here on.
        now = rules_day(house)
        first = rules.next_month(now.replace(day=1)).replace(day=10)
        house.pass_s((first - now).days * DAY_S)
        yield house


def rules_day(house):
    return date.fromtimestamp(house.clock.now_ms() / 1000)


def organization(house):
    return house.principal.organization_id


async def statement(house, **asked):
    asked = {"organization_id": organization(house), **asked}
    return await house.gateway.perform("statement.get", asked)


def reader(house):
    return house.gateway.services.repositories._store.reader


async def changed(house, sql, *values):
    def work(conn):
        conn.execute(sql, values)

    await house.gateway.services.repositories._store.commit(work)


async def key_of(house, name):
    made = await house.gateway.perform(
        "key.create",
        {"organization_id": organization(house), "type": "secret", "mode": "live", "name": name},
    )
    return Principal(organization(house), made["key"]["id"], KeyType.SECRET, Mode.LIVE)


def by_source(shown):
    return {each["source"]: (each["messages"], each["amount"]) for each in shown["sources"]}


async def test_a_month_without_entries_says_so(house, quick):
    shown = await statement(house)
    assert (shown["days"], shown["sources"], shown["payments"]) == ([], [], [])
    assert shown["opening"] == shown["closing"] == "1000.00"
    assert shown["month"] == rules.written(rules_day(house))


async def test_each_source_has_its_line(house, quick):
    shop = await key_of(house, "Shop")
    await house.send(principal=shop)
    await house.send(principal=shop)
    await house.send(to="+22236123457")
    mailed = await house.send(to="+22236123458")
    coded = await house.send(to="+22236123459")
    await changed(
        house,
        "UPDATE message SET priority = ?, client_key = 'mlg_1:7' WHERE id = ?",
        PRIORITY_MAILING,
        mailed,
    )
    await changed(house, "UPDATE message SET verification_id = 'ver_1' WHERE id = ?", coded)
    shown = await statement(house)
    one = shown["sources"][0]["amount"]
    assert by_source(shown) == {
        "mailing": (1, one),
        "key": (2, money(2 * minor_units(one))),
        "codes": (1, one),
        "other": (1, one),
    }
    assert [(each["source"], each["of"], each["name"]) for each in shown["senders"]] == [
        ("key", shop.key_id, "Shop"),
        ("mailing", "mlg_1", None),
    ]
    assert shown["charged"] == money(5 * minor_units(one))


async def test_a_request_of_several_messages_counts_each(house, quick):
    await house.send()
    await changed(house, "UPDATE entry SET messages = 7 WHERE kind = 0")
    (line,) = (await statement(house))["sources"]
    assert line["messages"] == 7


async def test_opening_and_all_changes_make_the_closing_balance(house, quick):
    here = {"organization_id": organization(house)}
    for day in range(45):
        for _ in range(day % 4):
            await house.send(to=f"+2223612{3000 + day:04}")
        if day % 7 == 0:
            await house.gateway.perform("topup", {**here, "amount": "20"})
        if day % 9 == 0:
            await house.gateway.perform("adjust", {**here, "amount": "-1", "reason": "Twice"})
        house.pass_s(DAY_S)
    month = rules_day(house).replace(day=1)
    months = []
    for _ in range(3):
        months.append(await statement(house, month=rules.written(month)))
        month = rules.days_of(month)[0]
        month = date(month.year - (month.month == 1), (month.month - 2) % 12 + 1, 1)
    for shown in months:
        signed = {name: minor_units(shown[name]) for name in ("charged", "refunded", "credited")}
        change = signed["credited"] + signed["refunded"] - signed["charged"]
        assert minor_units(shown["opening"]) + change == minor_units(shown["closing"])
        by_hand = Counter(each["kind"] for each in shown["payments"])
        assert sum(by_hand.values()) == len(shown["payments"])
        for each in shown["days"]:
            assert each["day"].startswith(shown["month"])
    newer, older, _ = months
    assert older["closing"] == newer["opening"]
    assert months[0]["closing"] == await house.balance()
    assert sum(len(each["payments"]) for each in months) == 1 + 7 + 5


async def test_a_refund_is_of_the_day_on_which_it_is_entered(house, quick):
    message = await house.send()
    before = await statement(house)
    house.pass_s(DAY_S)
    await changed(
        house,
        "INSERT INTO entry (organization, kind, amount, balance_after, message, at)"
        " SELECT organization, 1, -amount, balance_after - amount, message, ? FROM entry"
        " WHERE kind = 0 AND message = (SELECT key FROM message WHERE id = ?)",
        house.clock.now_ms(),
        message,
    )
    first, second = (await statement(house))["days"]
    assert first["refunded"] == "0.00"
    assert (second["refunded"], second["sources"]) == (before["charged"], [])
    assert second["balanceAfter"] == before["opening"]


async def test_days_are_those_of_the_organization(house, quick):
    await house.gateway.perform(
        "org.set", {"organization_id": organization(house), "time_zone": "Pacific/Kiritimati"}
    )
    await house.send()
    (day,) = (await statement(house))["days"]
    at = house.clock.now_ms() + 14 * 3_600_000
    assert day["day"] == date.fromtimestamp(at / 1000).isoformat()


async def test_another_organization_s_entries_are_not_in_it(house, quick):
    other = await house.organization()
    await house.send(principal=other)
    assert (await statement(house))["days"] == []


async def test_too_many_entries_are_told_up_to_a_day(house, quick):
    for _ in range(3):
        await house.send()
        house.pass_s(DAY_S)
    days = rules.days_of(rules_day(house).replace(day=1))
    conn, here = reader(house), organization(house)
    whole = stored.month_sum(conn, here, days, "UTC")
    cut = stored.month_sum(conn, here, days, "UTC", entries_max=2)
    assert whole.counted_until is None
    assert cut.days == whole.days[:2]
    assert cut.counted_until == rules.begins_at(whole.days[2].day, "UTC")
    assert cut.closing == whole.days[1].balance_after


async def test_many_keys_are_summed_in_one_line(house, quick):
    for number in range(SENDERS_MAX + 2):
        await house.send(principal=await key_of(house, f"Shop {number}"))
    shown = await statement(house)
    assert len(shown["senders"]) == SENDERS_MAX + 1
    rest = shown["senders"][-1]
    assert (rest["of"], rest["name"], rest["messages"]) == (None, None, 2)


@pytest.mark.parametrize(
    "month", ["2026-13", "2026-1", "26-01", "november", "2026-01-01", "٢٠٢٦-٠١"]
)
async def test_a_month_is_written_in_one_way(house, quick, month):
    with pytest.raises(Invalid, match="2026-11"):
        await statement(house, month=month)


async def test_the_issuer_and_the_first_month_are_told(house, quick):
    shown = await statement(house)
    assert shown["issuer"] == {"name": "", "address": [], "taxId": "", "tradeRegister": ""}
    assert shown["firstMonth"] < shown["month"]


def test_the_days_of_a_month():
    assert len(rules.days_of(date(2028, 2, 1))) == 29
    assert rules.next_month(date(2026, 12, 1)) == date(2027, 1, 1)
    assert rules.month_of("2026-11") == date(2026, 11, 1)
    assert rules.month_of("1999-11") is None


async def test_parts_for_which_nobody_pays_have_their_days(open_house, quick):
    async with open_house(billing=BillingSection(payer="self"), balance="0") as house:
        first = rules.next_month(rules_day(house).replace(day=1)).replace(day=10)
        house.pass_s((first - rules_day(house)).days * DAY_S)
        await house.send()
        await house.send(body="x" * 200)
        house.pass_s(DAY_S)
        await house.send()
        shown = await statement(house)
        days = [(each["day"], each["parts"]) for each in shown["ownParts"]]
        today = rules_day(house)
        assert days == [(today.replace(day=10).isoformat(), 3), (today.isoformat(), 1)]
        assert (shown["days"], shown["charged"]) == ([], "0.00")
        month = rules.written(today)
        house.pass_s(40 * DAY_S)
        later = await statement(house)
        assert later["ownParts"] == []
        assert later["firstMonth"] == month


async def test_it_is_told_as_json(house, quick):
    await house.send()
    assert json.loads(json.dumps(await statement(house)))["days"]
