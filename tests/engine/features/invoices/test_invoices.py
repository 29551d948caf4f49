"""Invoices: given numbers in turn, frozen as they were issued, and kept."""

import json
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import pairwise

import pytest
import trio

from risala.config.payments import LegalSection
from risala.engine.features.invoices import feature, issuing, stored
from risala.engine.features.invoices.records import (
    CLOSED_AFTER_MS,
    LINE_MAX,
    LINES_MAX,
    Invoice,
)
from risala.engine.features.statements import rules
from risala.engine.journal.audit.books import audit
from risala.engine.journal.store.writer import Journal
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound
from risala.engine.model.records.record import from_json

DAY_S = 86_400
FILE = "risala.db"
LEGAL = LegalSection(
    name="Chinguetti Messages SARL",
    address=("Îlot K, n° 12",),
    tax_id="00441122",
    invoice_series="F-",
)


def today(house):
    return date.fromtimestamp(house.clock.now_ms() / 1000)


def month_before(house):
    first = today(house).replace(day=1)
    return rules.written(date(first.year - (first.month == 1), (first.month - 2) % 12 + 1, 1))


def to_next_month(house, day=2):
    """The clock of tests begins at no particular time."""
    then = rules.next_month(today(house).replace(day=1)).replace(day=day)
    house.pass_s((then - today(house)).days * DAY_S)


@pytest.fixture
def open_bills(open_house):
    """A service that issues invoices only when it is asked to."""
    return partial(open_house, legal=LEGAL)


@pytest.fixture
def by_hand(monkeypatch):
    monkeypatch.setattr(issuing, "LOOK_EVERY_S", 1e9)


@pytest.fixture
async def house(open_bills, quick, by_hand):
    async with open_bills() as house:
        to_next_month(house)
        yield house


def here(house):
    return {"organization_id": house.principal.organization_id}


async def issue(house, month=None, **whose):
    asked = {**here(house), **whose, "month": month or month_before(house)}
    return await house.gateway.perform("invoice.issue", asked)


async def listed(house, **asked):
    return (await house.gateway.perform("invoice.list", asked))["invoices"]


def reader(house):
    return house.gateway.services.repositories._store.reader


async def test_a_month_sums_up_to_what_its_statement_says(house, quick):
    await house.send()
    await house.send(to="+22236123457")
    statement = await house.gateway.perform("statement.get", here(house))
    to_next_month(house)
    made = await issue(house)
    assert made["number"] == "F-0001"
    assert made["month"] == statement["month"]
    assert made["total"] == made["charged"] == statement["charged"]
    assert [each["day"] for each in made["days"]] == [each["day"] for each in statement["days"]]
    assert made["sources"] == statement["sources"]
    assert made["issuer"]["name"] == "Chinguetti Messages SARL"


async def test_payments_are_in_no_invoice(house, quick):
    await house.gateway.perform("topup", {**here(house), "amount": "20"})
    to_next_month(house)
    with pytest.raises(Conflict, match="Nothing was charged"):
        await issue(house)


async def test_more_refunds_than_charges_are_a_total_below_zero(house, quick):
    message = await house.send()
    to_next_month(house)

    def work(conn):
        conn.execute(
            "INSERT INTO entry (organization, kind, amount, balance_after, message, at)"
            " SELECT organization, 1, -amount, balance_after - amount, message, ? FROM entry"
            " WHERE kind = 0 AND message = (SELECT key FROM message WHERE id = ?)",
            (house.clock.now_ms(), message),
        )

    await house.gateway.services.repositories._store.commit(work)
    charged = await issue(house)
    to_next_month(house)
    refunded = await issue(house)
    assert refunded["total"] == f"-{charged['total']}"
    assert (refunded["number"], refunded["sources"]) == ("F-0002", [])


async def test_numbers_go_on_over_organizations_and_months(house, quick):
    other = await house.organization()
    for _ in range(3):
        await house.send()
        await house.send(principal=other)
        to_next_month(house)
        await issue(house)
        await issue(house, organization_id=other.organization_id)
    numbers = [each["number"] for each in await listed(house)]
    assert numbers == [f"F-{number:04}" for number in range(6, 0, -1)]
    assert len(await listed(house, **here(house))) == 3
    assert books(house) == ()


def books(house):
    return audit(reader(house)).faults


async def test_asking_again_gives_the_same_and_writes_nothing(house, quick):
    await house.send()
    to_next_month(house)
    first = await issue(house)
    lines = len(await trail(house))
    house.pass_s(DAY_S)
    assert await issue(house) == first
    assert len(await trail(house)) == lines == 1


async def trail(house):
    rows = await house.gateway.perform("audit.list", {"operation": "invoice.issue"})
    return rows["lines"]


async def test_many_at_once_get_one_number(house, quick):
    await house.send()
    to_next_month(house)
    made = []

    async def ask():
        made.append((await issue(house))["number"])

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(ask)
    assert made == ["F-0001"] * 5
    assert len(await listed(house)) == 1


async def test_another_series_begins_at_one_and_the_first_goes_on(open_house, quick, by_hand):
    numbers, principal = [], None
    for series in ("F-", "G/", "F-"):
        legal = LEGAL.model_copy(update={"invoice_series": series})
        async with open_house(legal=legal) as house:
            principal = house.principal = principal or house.principal
            await house.send()
            to_next_month(house)
            numbers.append((await issue(house))["number"])
            found = await house.gateway.perform("invoice.get", {"invoice_id": numbers[-1]})
            assert found["number"] == numbers[-1]
            assert books(house) == ()
    assert numbers == ["F-0001", "G/0001", "F-0002"]


async def test_a_month_that_is_not_over_has_none(house, quick):
    await house.send()
    now = rules.written(today(house))
    with pytest.raises(Conflict, match="not over yet"):
        await issue(house, now)
    begins = rules.begins_at(rules.next_month(today(house).replace(day=1)), "UTC")
    house.pass_s((begins + CLOSED_AFTER_MS - 1000 - house.clock.now_ms()) / 1000)
    with pytest.raises(Conflict, match="not over yet"):
        await issue(house, now)
    house.pass_s(2)
    assert (await issue(house, now))["month"] == now


@pytest.mark.parametrize("missing", ["name", "tax_id", "invoice_series"])
async def test_without_an_issuer_there_is_none(open_house, quick, missing):
    async with open_house(legal=LEGAL.model_copy(update={missing: ""})) as house:
        to_next_month(house)
        await house.send()
        to_next_month(house)
        with pytest.raises(Conflict, match=r"legal\.invoice_series"):
            await issue(house)
        assert not (await house.gateway.perform("invoice.list", {}))["canIssue"]


@pytest.mark.parametrize("series", ["F1", "é-", "F 1-", "F-" * 11, "٣-"])
def test_a_series_ends_with_no_digit(series):
    with pytest.raises(ValueError, match="invoice_series"):
        LegalSection(invoice_series=series)


# -- whom it names, and VAT


DETAILS = {"address": ["Avenue 3", "Rosso"], "tax_id": "00778899"}


async def said(house, caller=None, **changed):
    asked = {**here(house), **changed}
    who = () if caller is None else (caller,)
    return await house.gateway.perform("invoice.customer", asked, *who)


def member(house, role):
    return Caller("who@x.example", CallerKind.DASHBOARD, role, house.principal.organization_id)


async def test_it_names_the_customer_as_it_was_when_it_was_issued(house, quick):
    assert await said(house) == {**shown_of(house), "address": [], "taxId": ""}
    first = rules.written(today(house))
    for _ in range(2):
        await house.send()
        to_next_month(house)
    await said(house, address=DETAILS["address"], tax_id=DETAILS["tax_id"])
    old = await issue(house, first)
    await said(house, address=[], tax_id="")
    new = await issue(house)
    named = [(each["customerAddress"], each["customerTaxId"]) for each in (old, new)]
    assert named == [(DETAILS["address"], DETAILS["tax_id"]), ([], "")]
    found = await house.gateway.perform("invoice.get", {"invoice_id": old["number"]})
    assert found == old


def shown_of(house):
    return {"organizationId": house.principal.organization_id}


async def test_what_is_not_given_stays_and_lines_are_tidied(house, quick):
    await said(house, **DETAILS)
    after = await said(house, address="  Avenue   3\n\n Rosso ")
    assert (after["address"], after["taxId"]) == (["Avenue 3", "Rosso"], "00778899")
    assert await said(house) == after
    (line,) = (await house.gateway.perform("audit.list", {"operation": "invoice.customer"}))[
        "lines"
    ][:1]
    assert line["after"] == {"address": ["Avenue 3", "Rosso"], "taxId": "00778899"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"address": ["x"] * (LINES_MAX + 1)},
        {"address": ["x" * (LINE_MAX + 1)]},
        {"address": 7},
        {"tax_id": "7" * (LINE_MAX + 1)},
    ],
)
async def test_what_no_invoice_has_room_for_is_refused(house, quick, wrong):
    with pytest.raises(Invalid):
        await said(house, **wrong)
    assert await said(house) == {**shown_of(house), "address": [], "taxId": ""}


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVELOPER])
async def test_owners_alone_change_it_and_members_read_it(house, quick, role):
    await said(house, member(house, Role.OWNER), **DETAILS)
    assert (await said(house, member(house, role)))["taxId"] == "00778899"
    with pytest.raises(Forbidden):
        await said(house, member(house, role), tax_id="1")


async def test_the_last_invoice_of_a_deleted_organization_repeats_the_details(house, quick):
    await said(house, **DETAILS)
    await house.send()
    to_next_month(house)
    await issue(house)
    await house.send()
    await house.gateway.perform("org.delete", {**here(house), "name": "Test"})
    rows = reader(house).execute("SELECT * FROM invoice_customers").fetchall()
    assert rows == []
    to_next_month(house)
    last = await issue(house)
    assert (last["customerAddress"], last["customerTaxId"]) == tuple(DETAILS.values())


@pytest.mark.parametrize(
    ("total", "percent", "vat"),
    [
        *((11_600, "16", 1_600), (60_350, "16", 8_324), (100, "16", 14), (1, "16", 0)),
        *((3, "20", 1), (9, "20", 2), (-9, "20", -2), (-60_350, "16", -8_324)),
        *((10_550, "5.5", 550), (12_345_678, "0.01", 1_234), (50, "0", 0), (0, "16", 0)),
        (10**15 + 7, "16", 137_931_034_482_760),
    ],
)
def test_vat_is_part_of_the_total_to_the_smallest_unit(total, percent, vat):
    """Halves are rounded away from zero."""
    assert issuing.vat_in(total, percent) == vat


@pytest.mark.parametrize(
    ("percent", "named"), [("", (None, None)), ("16", ("16", "0.07")), ("5.5", ("5.5", "0.03"))]
)
async def test_vat_is_named_where_the_operator_says_the_rate(
    open_house, quick, by_hand, percent, named
):
    legal = LEGAL.model_copy(update={"vat_percent": percent})
    async with open_house(legal=legal) as house:
        to_next_month(house)
        await house.send()
        to_next_month(house)
        made = await issue(house)
        assert made["total"] == "0.50"
        assert (made["vatPercent"], made["vat"]) == named
        assert await listed(house) == [made]


@pytest.mark.parametrize("percent", ["100", "5,5", "-1", "1.234", "16%", "."])
def test_a_rate_is_a_percentage(percent):
    with pytest.raises(ValueError, match="vat_percent"):
        LegalSection(vat_percent=percent)


# -- nothing that comes later changes one


async def test_it_stays_as_it_was_printed(open_bills, open_house, quick, by_hand):
    async with open_bills() as house:
        principal = house.principal
        await house.send()
        to_next_month(house)
        made = await issue(house)
        changes = {"name": "Other", "time_zone": "Asia/Tokyo"}
        await house.gateway.perform("org.set", {**here(house), **changes})
    sold = LEGAL.model_copy(update={"name": "Sold", "address": ("Elsewhere",), "tax_id": "7"})
    async with open_house(legal=sold) as house:
        house.principal = principal
        for named in (made["number"], made["id"]):
            assert await house.gateway.perform("invoice.get", {"invoice_id": named}) == made
        assert await issue(house, made["month"]) == made


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE invoices SET printed = '{}'",
        "UPDATE invoices SET number = 7",
        "DELETE FROM invoices",
        "INSERT OR REPLACE INTO invoices SELECT seq, id, series, 2, organization_id, month, '{}'"
        " FROM invoices",
        "INSERT INTO invoices SELECT 2, 'inv_2', series, 3, organization_id, '1999-01', printed"
        " FROM invoices",
        "INSERT INTO invoices SELECT 2, 'inv_2', series, 1, organization_id, '1999-01', printed"
        " FROM invoices",
        "INSERT INTO invoices SELECT 2, 'inv_2', 'G-', 2, organization_id, '1999-01', printed"
        " FROM invoices",
    ],
)
async def test_the_table_refuses_changes_and_gaps(house, quick, sql):
    await house.send()
    to_next_month(house)
    made = await issue(house)
    path = house.gateway.services.settings.storage.data_dir / FILE
    with closing(sqlite3.connect(path)) as conn, pytest.raises(sqlite3.IntegrityError):
        conn.execute(sql)
    assert await listed(house) == [made]


async def test_an_erasure_leaves_it_because_it_has_no_number(house, quick):
    await house.send(to="+22236123456")
    to_next_month(house)
    made = await issue(house)
    assert "36123456" not in json.dumps(made)
    await house.gateway.perform("number.forget", {**here(house), "number": "+22236123456"})
    assert await listed(house) == [made]


async def test_a_deleted_organization_keeps_its_invoices_and_gets_its_last(house, quick):
    await house.send()
    to_next_month(house)
    first = await issue(house)
    await house.send()
    await house.gateway.perform("org.delete", {**here(house), "name": "Test"})
    assert await listed(house) == [first]
    to_next_month(house)
    last = await issue(house)
    assert last["number"] == "F-0002"
    assert last["organizationName"] == first["organizationName"]


async def test_the_owner_s_file_has_them_as_they_were_printed(house, quick):
    for _ in range(3):
        await house.send()
        to_next_month(house)
        await issue(house)
    conn, after, rows = reader(house), "", []
    while after is not None:
        part = stored.export(conn, house.principal.organization_id, after, 2)
        rows += part.rows
        after = part.last
    assert rows == [*reversed(await listed(house))]


async def test_pages_of_a_list(house, quick):
    for _ in range(3):
        await house.send()
        to_next_month(house)
        await issue(house)
    first = await house.gateway.perform("invoice.list", {**here(house), "limit": 2})
    rest = await house.gateway.perform(
        "invoice.list", {**here(house), "limit": 2, "before": first["next"]}
    )
    numbers = [each["number"] for each in first["invoices"] + rest["invoices"]]
    assert numbers == ["F-0003", "F-0002", "F-0001"]
    assert rest["next"] is None
    (one,) = await listed(house, **here(house), month=first["invoices"][1]["month"])
    assert one["number"] == "F-0002"


@pytest.mark.parametrize("named", ["F-0002", "F-1", "F-", "", "1", "inv_1", "F-" + "9" * 40])
async def test_a_number_that_is_none(house, quick, named):
    await house.send()
    to_next_month(house)
    await issue(house)
    with pytest.raises(NotFound):
        stored.find(reader(house), named)


async def test_a_month_of_many_entries_is_summed_in_parts(house, quick, monkeypatch):
    for _ in range(3):
        for _ in range(4):
            await house.send()
        house.pass_s(DAY_S)
    statement = await house.gateway.perform("statement.get", here(house))
    monkeypatch.setattr(issuing, "ENTRIES_MAX", 3)  # less than a day has
    to_next_month(house)
    made = await issue(house)
    assert made["total"] == statement["charged"]
    assert len(made["days"]) == 3


# -- by itself


async def test_each_month_that_ends_gets_one_by_itself(open_bills, quick, leap):
    async with open_bills() as house:
        to_next_month(house, day=27)
        await house.send()
        first = rules.written(today(house))
        assert await listed(house) == []
        await leap(8 * DAY_S)
        (made,) = await listed(house)
        assert (made["month"], made["number"]) == (first, "F-0001")
        issued = from_json(Invoice, made).issued_at
        closes = issuing.closes_at(date.fromisoformat(f"{first}-01"), "UTC")
        assert closes <= issued <= closes + issuing.LOOK_EVERY_S * 1000
        (line,) = await trail(house)
        assert line["who"] == "risala"


async def off_for(house, months):
    """Months with a message each, of one organization, in which nothing is issued."""
    for _ in range(months):
        await house.send()
        to_next_month(house)


async def test_all_months_of_a_long_time_off_get_theirs_in_order(house, quick):
    """Those without costs have none."""
    other = await house.organization()
    await off_for(house, 2)
    await house.send(principal=other)
    to_next_month(house)
    await off_for(house, 1)
    assert not await issuing.issue_due(house.gateway.services, {})
    made = [*reversed(await listed(house))]
    assert [each["number"] for each in made] == ["F-0001", "F-0002", "F-0003", "F-0004"]
    own = [each["month"] for each in made if each["organizationId"] in here(house).values()]
    assert len(own) == 3
    assert own == sorted(own)
    await issuing.issue_due(house.gateway.services, {})
    assert len(await listed(house)) == 4
    assert books(house) == ()


async def test_a_turn_is_bounded_and_the_next_goes_on(house, quick, monkeypatch):
    monkeypatch.setattr(issuing, "TURN_MAX", 2)
    await off_for(house, 5)
    looked, counts = {}, []
    for has_more in (True, True, False):
        assert await issuing.issue_due(house.gateway.services, looked) is has_more
        counts.append(len(await listed(house)))
    assert counts == [2, 4, 5]
    months = [each["month"] for each in await listed(house)]
    assert months == sorted(months, reverse=True)


async def test_who_sets_the_series_later_gets_all_since_the_first_cost(
    open_house, open_bills, quick, leap
):
    """Turn by turn, without waiting for the next hour."""
    async with open_house() as house:
        principal = house.principal
        to_next_month(house)
        await off_for(house, 3)
        with pytest.raises(Conflict, match=r"legal\.invoice_series"):
            await issue(house)
    async with open_bills() as house:
        house.principal = principal
        await leap(30, every_s=1)
        assert [each["number"] for each in await listed(house)] == ["F-0003", "F-0002", "F-0001"]


async def test_by_hand_too_the_months_come_in_order(house, quick):
    first = rules.written(today(house))
    await off_for(house, 2)
    with pytest.raises(Conflict, match=f"The costs of {first} have no invoice yet"):
        await issue(house)
    assert (await issue(house, first))["number"] == "F-0001"
    assert (await issue(house))["number"] == "F-0002"


# -- another time zone


EAST, WEST = "Pacific/Kiritimati", "Pacific/Pago_Pago"
"""Fourteen hours before UTC, and eleven after it."""


async def hourly(house, hours):
    """A message each hour around the end of a month; returns what each cost."""
    for _ in range(hours):
        await house.send()
        house.pass_s(3600)


@pytest.mark.parametrize("zones", [(EAST, WEST), (WEST, EAST), ("UTC", EAST), (WEST, "UTC")])
@pytest.mark.parametrize("is_idle", [False, True], ids=["used", "idle"])
async def test_each_cost_is_on_one_invoice_whatever_the_time_zone_was(house, quick, zones, is_idle):
    """The hours between the end of a month by the one clock and by the other; also where the month
    before had no cost by the first."""
    before, after = zones
    await house.gateway.perform("org.set", {**here(house), "time_zone": before})
    if is_idle:
        await house.send()
        to_next_month(house)
    to_next_month(house, day=1)
    house.pass_s(-20 * 3600)
    await hourly(house, 40)
    house.pass_s(3 * DAY_S)
    await issuing.issue_due(house.gateway.services, {})
    await house.gateway.perform("org.set", {**here(house), "time_zone": after})
    await issuing.issue_due(house.gateway.services, {})
    for _ in range(2):
        to_next_month(house)
        await issuing.issue_due(house.gateway.services, {})
    made = [from_json(Invoice, each) for each in reversed(await listed(house))]
    sent = 40 + is_idle
    assert sum(each.messages for one in made for each in one.sources) == sent
    assert sum(each.messages for one in made for day in one.days for each in day.sources) == sent
    spans = [issuing.span_of(each) for each in made]
    for (_, ended), (begins, _) in pairwise(spans[is_idle:]):
        assert begins == ended
    assert [each.month for each in made] == sorted({each.month for each in made})
    assert books(house) == ()


async def test_what_was_issued_before_spans_were_kept_has_its_month_s(house, quick):
    await house.send()
    to_next_month(house)
    made = from_json(Invoice, await issue(house))
    old = replace(made, begins_at=None, ends_at=None)
    assert issuing.span_of(old) == issuing.span_of(made) == (made.begins_at, made.ends_at)


async def test_without_a_series_nothing_runs(open_house, quick, monkeypatch):
    """Nor is anything loaded."""
    async with open_house() as house:
        monkeypatch.setitem(sys.modules, issuing.__name__, None)  # an import would fail
        assert feature.tasks(house.gateway.services) == ()


@pytest.mark.slow
async def test_killed_at_each_instant_there_is_no_gap_and_no_number_twice(
    open_bills, quick, by_hand, tmp_path, monkeypatch
):
    """The database as each commit left it: the next start goes on, and in the end each month has
    its invoice, with the numbers in turn."""
    states, commit = [], Journal._commit_batch

    async with open_bills() as house:
        to_next_month(house)
        people = [house.principal, *[await house.organization() for _ in range(2)]]
        for each in people:
            await house.send(principal=each)
        to_next_month(house)

        def commit_batch(journal, conn, batch):
            done = commit(journal, conn, batch)
            with closing(sqlite3.connect(tmp_path / FILE)) as there:
                states.append(there.serialize())
            return done

        monkeypatch.setattr(Journal, "_commit_batch", commit_batch)
        await issuing.issue_due(house.gateway.services, {})
        for _ in range(2):  # off for longer than a month
            for each in people:
                await house.send(principal=each)
            to_next_month(house)
        await issuing.issue_due(house.gateway.services, {})
        monkeypatch.undo()
        whole = {each["number"]: each["month"] for each in await listed(house)}
    monkeypatch.setattr(issuing, "LOOK_EVERY_S", 1e9)
    assert len(whole) == 9
    assert len(states) >= 15
    for state in states:
        for path in tmp_path.glob(FILE + "*"):
            path.unlink()
        (tmp_path / FILE).write_bytes(state)
        with closing(sqlite3.connect(tmp_path / FILE)) as conn:
            before = {
                number: json.loads(printed)
                for number, printed in conn.execute(
                    "SELECT series || printf('%04d', number), printed FROM invoices"
                )
            }
        async with open_bills() as house:
            await issuing.issue_due(house.gateway.services, {})
            await issuing.issue_due(house.gateway.services, {})
            after = {each["number"]: each for each in await listed(house)}
            assert {number: after[number] for number in before} == before
            assert sorted(after) == [f"F-{number:04}" for number in range(1, len(after) + 1)]
            for each in people:
                whose = {"organization_id": each.organization_id}
                months = [one["month"] for one in await listed(house, **whose)]
                assert months == sorted({*months}, reverse=True)
            assert books(house) == ()
