"""A mailing as a command meets it: what each operation on it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from risala.engine.features.mailings.records import (
    CarrierShare,
    Mailing,
    MailingRow,
    MailingRows,
    Mailings,
    MailingSource,
    MailingState,
    MailingView,
    Outcomes,
    Person,
    ReportPart,
    RowState,
    Workbook,
)
from risala.engine.features.tables.records import RowFault
from risala.engine.model.records.record import to_json
from risala.engine.model.states import Mode

AT_MS = 1_767_225_600_123
COLUMNS = ("Prénom", "Téléphone")
MAILING = Mailing(
    id="mlg_1", organization_id="org_1", mode=Mode.LIVE, name="people.csv",
    state=MailingState.DRAFT, source=MailingSource.FILE, text="Bonjour {{Prénom}}", sender=None,
    encoding="windows-1252", separator=";", sheet=None, sheets=(), has_header=True,
    columns=COLUMNS, number_column=1, hidden_rows=0, hidden_columns=0, with_hidden=False,
    pace=None, from_hour=8, to_hour=20, send_at=None,
    created_at=AT_MS, created_by="me", started_at=None, ended_at=None, wait=None, again_at=None,
    rows=4, ready=2, bad=2, left_out=0, accepted=0, refused=0, segments=2, price=100,
    keeps_rows=True,
)  # fmt: skip
READY = MailingRow(
    2, "+22236123456", ("Aïcha", "36 12 34 56"), RowState.READY, None, None, 1, 50, None, None
)
BAD = MailingRow(
    3, None, ("Bob", "=cmd()"), RowState.BAD, RowFault.NUMBER, "Téléphone", 0, 0, None, None
)
SENT = replace(READY, state=RowState.ACCEPTED, message_id="sms_1", status="delivered")


def nothing(_: Mailing) -> None:
    """For a look that nobody waits for."""


@dataclass
class FakeMailing:
    """Answers what is asked of one mailing, which the test changes."""

    now: Mailing = MAILING
    looks: list[Mailing] = field(default_factory=list)
    """What the next looks find, one after the other; then ``now``."""
    bad: tuple[MailingRow, ...] = (BAD,)
    balance: int = 1000
    parts: tuple[tuple[MailingRow, ...], ...] = ((SENT,), (BAD,))
    """The report, part by part."""

    at_look: Callable[[Mailing], None] = nothing
    """Called at each look, with what it finds."""
    workbook: str = ""
    """The path of the report as a workbook."""

    def answers(self, given: dict[str, Any]) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
        """Each operation's name without ``mailing.``, and its answer."""
        for verb in ("create", "set", "read", "start", "pause", "go_on", "stop", "again", "delete"):
            yield verb, lambda: to_json(self.now)
        yield "leave_out", lambda: to_json(self.now)
        yield "mend", lambda: to_json(replace(BAD, cells=tuple(given["cells"])))
        yield "list", lambda: to_json(Mailings((self.now,), "cursor"))
        yield "show", self._show
        yield "rows", lambda: to_json(MailingRows(COLUMNS, 1, self.bad, None))
        yield "person", lambda: to_json(Person(READY, "Bonjour Aïcha", 13, "gsm7", 1))
        yield "workbook", lambda: to_json(Workbook(self.now, self.workbook))
        yield "report", lambda: self._part(given.get("after") or 0)

    def _show(self) -> dict[str, Any]:
        found = self.looks.pop(0) if self.looks else self.now
        self.at_look(found)
        shares = (CarrierShare(("loop",), found.ready, 2),)
        view = MailingView(found, Outcomes(0, 0, found.accepted, 0), self.balance, shares, 2)
        return {**to_json(view), "version": 7}

    def _part(self, after: int) -> dict[str, Any]:
        last = after + 1 == len(self.parts)
        return to_json(ReportPart(COLUMNS, self.parts[after], None if last else after + 1, 5))
