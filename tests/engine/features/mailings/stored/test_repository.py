"""The repository of mailings, over a real store: reads, commands, and their lines in the audit
trail."""

from __future__ import annotations

import pytest

from mailing_book import new_mailing, new_row
from risala.engine.features.mailings.records import MailingState
from risala.engine.features.mailings.stored import checking
from risala.engine.features.mailings.stored.repository import MailingRepository
from risala.engine.features.tables.records import RowFault
from risala.engine.journal.store import audit_log
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.callers import Caller, CallerKind, Role


@pytest.fixture
def owner(house):
    whose = house.principal.organization_id
    return Caller("owner@example.com", CallerKind.DASHBOARD, Role.OWNER, whose, "usr_1")


@pytest.fixture
def mailings(house):
    return house.gateway.services.repositories.part(MailingRepository)


def lines(house, action):
    """The lines of the audit trail about an action."""
    reader = house.gateway.services.repositories._store.reader
    return audit_log.lines(reader, 10, action=action)


async def drafted(house, mailings, *rows):
    whose = {"organization_id": house.principal.organization_id, "created_at": 1}
    new = await mailings.add(None, new_mailing("mlg_1", **whose), "upl_1")
    await mailings.store_rows(new.id, rows)
    return await mailings.finish_check(new.id)


async def test_all_bad_rows_are_left_out_however_many(
    house, autojump_clock, mailings, owner, monkeypatch
):
    monkeypatch.setattr(checking, "ROWS_AT_ONCE", 2)
    bad = [new_row(row, RowFault.NUMBER, number=None) for row in range(2, 9)]
    await drafted(house, mailings, new_row(1), *bad)
    by = AuditEntry(
        caller=owner, action="mailing.leave_out", at=1, subject="mlg_1", image=AuditImage.MAILING
    )
    left = await mailings.leave_out(by, "mlg_1")
    assert (left.ready, left.bad, left.left_out) == (1, 0, 7)
    assert len(lines(house, "mailing.leave_out")) == 1


async def test_the_trail_shows_states_and_no_text(house, autojump_clock, mailings, owner):
    await drafted(house, mailings, new_row(1))
    by = AuditEntry(
        caller=owner, action="mailing.start", at=1, subject="mlg_1", image=AuditImage.MAILING
    )
    values = {"state": MailingState.SENDING, "started_at": 1}
    await mailings.change(by, "mlg_1", values, (MailingState.DRAFT,))
    (line,) = lines(house, "mailing.start")
    assert (line.before["state"], line.after["state"]) == ("draft", "sending")
    assert "Hello" not in str(line)
    assert [each.mailing.id for each in mailings.to_send()] == ["mlg_1"]
    assert mailings.to_check() == []


async def test_figures_are_read_beside_the_loop(house, autojump_clock, mailings):
    await drafted(house, mailings, new_row(1), new_row(2))
    key = mailings.stored("mlg_1").key
    assert (await mailings.outcomes(key)).pending == 0
    assert [each.rows for each in await mailings.shares(key, 5)] == [2]
    assert await mailings.by_place(key, 2) == 2
    assert await mailings.place_of(key, 2) == 2
