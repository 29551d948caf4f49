"""A mailing from its file to each person's phone."""

from __future__ import annotations

import pytest
from tests.engine.features.mailings.people_tables import table

from risala.engine.features.mailings.records import MailingState, NewMailing, RowState
from risala.engine.features.tables.records import Chosen, RowFault
from risala.engine.model.errors import Conflict, Invalid, SenderNotApproved
from risala.engine.model.states import Mode
from risala.plugins.contract import ReceiptState

PEOPLE = b"""\
name;phone
Aminetou;36 00 00 01
Sidi;36 00 00 02
;36 00 00 03
Fatma;12
Again;+222 36000001
"""


async def test_each_person_gets_their_text(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        assert (made.name, made.columns, made.number_column) == ("people.csv", ("name", "phone"), 1)
        assert desk.counts(made.id) == (2, 3, 0, 0, 0)
        bad = await desk.service.rows(made.id, RowState.BAD, 0, 10)
        assert [(row.row, row.fault) for row in bad.rows] == [
            (4, RowFault.VALUE_MISSING),
            (5, RowFault.NUMBER),
            (6, RowFault.DOUBLE),
        ]
        assert [row.same_as for row in bad.rows] == [None, None, 2]
        await desk.service.start(made.id)
        done = await desk.until(made.id, MailingState.DONE)
        assert desk.counts(made.id) == (0, 3, 0, 2, 0)
        assert desk.messages() == [
            ("+22236000001", "Hello Aminetou"),
            ("+22236000002", "Hello Sidi"),
        ]
        assert (done.price, done.segments, await desk.house.balance()) == (100, 2, "999.00")
        report = await desk.service.report(made.id, 0)
        sent = report.rows[0].message_id
        story = await desk.house.gateway.perform("message.show", {"message_id": sent})
        assert story["timeline"][0]["text"].startswith(f"Accepted by the mailing {made.id};")
        assert [row.state for row in report.rows] == ["accepted"] * 2 + ["bad"] * 3


async def test_the_country_that_is_not_open_is_named(open_desk, quick):
    """Of a number in the international form; a cell that is none names no country."""
    people = b"name;phone\nAmina;+33 6 12 34 56 78\nSidi;36000001\nMarie;12\n"
    async with open_desk() as desk:
        made = await desk.draft(people)
        bad = await desk.service.rows(made.id, RowState.BAD, 0, 10)
        named = [(RowFault.NOT_SERVED, "FR"), (RowFault.NUMBER, None)]
        assert [(row.fault, row.country) for row in bad.rows] == named
        report = await desk.service.report(made.id, 0)
        assert [row.country for row in report.rows] == ["FR", None, None]
        other = await desk.service.mend(made.id, 2, ("Amina", "+221701234567"))
        assert (other.fault, other.country) == (RowFault.NOT_SERVED, "SN")


async def test_a_bad_row_is_mended_and_another_left_out(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        mended = await desk.service.mend(made.id, 4, ("Ahmed", "36000003"))
        assert (mended.state, mended.number, mended.price) == (RowState.READY, "+22236000003", 50)
        still = await desk.service.mend(made.id, 5, ("Fatma", "x"))
        assert (still.state, still.fault) == (RowState.BAD, RowFault.NUMBER)
        double = await desk.service.mend(made.id, 6, ("Again", "36000002"))
        assert double.fault is RowFault.DOUBLE
        await desk.service.leave_out(made.id, 2)
        left = await desk.service.leave_out(made.id, None)
        assert (left.ready, left.bad, left.left_out) == (2, 0, 3)
        await desk.service.start(made.id)
        await desk.until(made.id, MailingState.DONE)
        assert [to for to, _ in desk.messages()] == ["+22236000002", "+22236000003"]


async def test_another_text_checks_the_rows_as_they_were_mended(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        await desk.service.mend(made.id, 4, ("Ahmed", "36000003"))
        await desk.service.leave_out(made.id, 3)
        await desk.service.change(made.id, {"text": "No names"})
        await desk.until(made.id, MailingState.DRAFT)
        assert desk.counts(made.id) == (2, 2, 1, 0, 0)
        person = await desk.service.person(made.id)
        assert (person.text, person.place, person.row.row) == ("No names", 1, 2)
        following = await desk.service.person(made.id, row=2, step="next")
        assert (following.row.cells, following.place) == (("Ahmed", "36000003"), 2)


async def test_a_text_is_changed_after_a_number_was_erased(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        erased = {"organization_id": desk.organization_id, "number": "+22236000002"}
        await desk.house.gateway.perform("number.forget", erased)
        await desk.when(made.id, lambda mailing: mailing.ready == 1)
        await desk.service.change(made.id, {"text": "No names"})
        await desk.until(made.id, MailingState.DRAFT)
        await desk.service.start(made.id)
        await desk.until(made.id, MailingState.DONE)
        assert [to for to, _ in desk.messages()] == ["+22236000001", "+22236000003"]


async def test_a_file_is_read_in_another_way(open_desk, quick):
    content = b"36000001;36000009;A\n36000002;36000008;B\n"
    async with open_desk() as desk:
        made = await desk.draft(content, text="Hello")
        await desk.service.leave_out(made.id, 1)
        read = await desk.service.read(made.id, Chosen(number_column=1, has_header=False))
        assert read.number_column == 1
        await desk.until(made.id, MailingState.DRAFT)
        rows = (await desk.service.rows(made.id, None, 0, 10)).rows
        assert [row.number for row in rows] == ["+22236000009", "+22236000008"]
        assert desk.counts(made.id) == (2, 0, 0, 0, 0)


async def test_what_cannot_be_started_says_why(open_desk, quick):
    async with open_desk() as desk:
        with pytest.raises(Invalid) as unknown:
            await desk.draft(PEOPLE, text="Hello {{nom}}")
        assert unknown.value.code == "unknown_column"
        empty = await desk.draft(PEOPLE, text="")
        with pytest.raises(Invalid):
            await desk.service.start(empty.id)
        bad = await desk.draft(PEOPLE)
        for row in (2, 3):
            await desk.service.leave_out(bad.id, row)
        with pytest.raises(Conflict):
            await desk.service.start(bad.id)


async def test_the_failed_ones_are_a_new_mailing(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.start(3)
        await desk.until(made.id, MailingState.DONE)
        with pytest.raises(Conflict):
            await desk.service.again(made.id, created_by="somebody")
        await desk.house.driver.wait_submitted(3)
        second = [each.recipient for each in desk.house.driver.submitted].index("+22230000002")
        await desk.house.driver.receipt(str(second + 1), ReceiptState.UNDELIVERABLE)
        again = await desk.service.again(made.id, created_by="somebody")
        await desk.until(again.id, MailingState.DRAFT)
        assert (again.source, again.text, again.name) == ("again", made.text, made.name)
        rows = (await desk.service.rows(again.id, None, 0, 10)).rows
        assert [(row.number, row.state) for row in rows] == [("+22230000002", "ready")]


async def test_nothing_is_left_of_a_deleted_mailing(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        folder = desk.service.uploads.beside("x", "y").parent
        assert [*folder.iterdir()]
        await desk.service.delete(made.id)
        assert not [*folder.iterdir()]
        assert desk.service.page(desk.organization_id, None).mailings == ()


async def test_a_mailing_in_test_mode_costs_nothing(open_desk, quick):
    async with open_desk(balance="0.01") as desk:
        made = await desk.draft(PEOPLE, mode=Mode.TEST)
        assert (made.ready, made.price) == (2, 0)
        view = await desk.service.view(made.id)
        assert [share.carriers for share in view.shares] == [("test",)]
        await desk.service.start(made.id)
        await desk.until(made.id, MailingState.DONE)
        assert (len(desk.messages()), desk.texts) == (2, [])


async def test_how_long_it_takes_is_told_by_carrier(open_desk, carrier, quick):
    """One country has a carrier of its own, and another one is shared by two."""
    carriers = (
        carrier("near", rate_per_s=2, prefixes=["+222"]),
        carrier("far", rate_per_s=1, prefixes=["+22236"]),
        carrier("too", rate_per_s=3, prefixes=["+22236"]),
    )
    async with open_desk(*carriers) as desk:
        made = await desk.draft(table(40) + b"A;36000001\nB;36000002\n" * 1)
        view = await desk.service.view(made.id)
        told = {each.carriers: (each.messages, each.seconds) for each in view.shares}
        assert told == {("near",): (40, 20), ("far", "too"): (2, 1)}
        assert view.seconds == 20
        await desk.service.change(made.id, {"pace": 10})
        assert (await desk.service.view(made.id)).seconds == 252
        assert view.balance == 100_000


async def test_a_sender_that_is_not_ours_is_refused_at_once(open_desk, quick):
    async with open_desk() as desk:
        with pytest.raises(SenderNotApproved):
            await desk.draft(PEOPLE, sender="NOBODYS")
        made = await desk.draft(PEOPLE)
        with pytest.raises(SenderNotApproved):
            await desk.service.change(made.id, {"sender": "NOBODYS"})
        await desk.service.start(made.id)
        with pytest.raises(Conflict):
            await desk.service.change(made.id, {"text": "Other"})


async def test_a_list_becomes_a_mailing(open_desk, quick):
    async with open_desk() as desk:
        of = {"organization_id": desk.organization_id}
        perform = desk.house.gateway.perform
        made_list = await perform("list.create", {**of, "name": "Parents"})
        list_id = made_list["list"]["id"]
        with pytest.raises(Conflict):
            await _mailing_of(desk, list_id)
        for name, to in (("A", "36000001"), ("B", "36000002")):
            added = {"list_id": list_id, "number": to, "cells": {"name": name}}
            await perform("list.add", added)
        made = await _mailing_of(desk, list_id)
        await desk.until(made.id, MailingState.DRAFT)
        assert (made.name, made.source) == ("Parents", "list")
        person = await desk.service.person(made.id, place=2)
        assert person.text == "Hello B"


async def _mailing_of(desk, list_id: str):
    new = NewMailing(
        organization_id=desk.organization_id,
        mode=Mode.LIVE,
        created_by="somebody",
        text="Hello {{name}}",
        list_id=list_id,
    )
    return await desk.service.create(new)


async def test_the_first_outcomes_are_seen_at_once(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        before = await desk.service.view(made.id)
        assert (before.outcomes.pending, before.outcomes.sent, before.mailing.ready) == (0, 0, 2)
        await desk.service.start(made.id)
        await desk.when(made.id, lambda mailing: mailing.accepted == 2)
        seen = (await desk.service.view(made.id)).outcomes
        assert seen.pending + seen.sent + seen.delivered == 2
