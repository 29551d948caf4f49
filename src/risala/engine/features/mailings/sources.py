"""What the parts of mailings share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from pathlib import Path

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.alarm import Bell
from risala.engine.actors.broadcast import Broadcast
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.features.mailings.records import Mailing
from risala.engine.features.mailings.row_records import NewRow
from risala.engine.features.mailings.stored.repository import MailingRepository
from risala.engine.features.tables.reading import TableProcesses
from risala.engine.features.tables.records import ListRows, RowFault
from risala.engine.features.tables.uploads import Uploads
from risala.engine.intake.draft import RequestDrafts
from risala.engine.intake.intake import Intake
from risala.engine.model.clock import Clock
from risala.engine.model.commands import Principal
from risala.engine.model.errors import CountryNotOpen
from risala.engine.model.ids import IdSource
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.people.countries import CountryUse
from risala.engine.model.sentences import FACE
from risala.engine.rules.router import Router

WriteList = Callable[[str, str, Path], Awaitable[ListRows]]
"""Writes the people of a list, by its id and its organization's, as lines of rows."""


@dataclass(frozen=True, slots=True)
class MailingSources:
    settings: Settings
    clock: Clock
    ids: IdSource
    accounts: Accounts
    intake: Intake
    mailings: MailingRepository
    router: Router
    uploads: Uploads
    write_list: WriteList
    paces: Callable[[], Mapping[str, float]]
    """Messages a second that each carrier takes at most; 0: as many as there are."""
    tables: TableProcesses
    set_aside: SetAsideItems
    to_check: Bell = field(default_factory=Bell)
    """Rings when the rows of a mailing are to be stored."""
    checked: Broadcast[str] = field(default_factory=Broadcast)
    """A mailing's rows are all checked: it is a draft, or its file was lost."""

    def principal_of(self, mailing: Mailing) -> Principal:
        """The principal as which a mailing sends."""
        return Principal(
            mailing.organization_id, mailing.id, KeyType.SECRET, mailing.mode, face=FACE
        )

    def drafts_of(self, mailing: Mailing) -> RequestDrafts:
        """What knows the prices of a mailing's messages."""
        organization = self.accounts.organization(mailing.organization_id)
        return self.intake.drafts.of_request(organization, self.principal_of(mailing), 0)


def new_row(
    drafts: RequestDrafts,
    row: int,
    cells: str,
    number: str | None,
    fault: str | None,
    column: str | None,
    segments: int,
) -> NewRow:
    """A checked row as it is stored: with its price, and bad if its country is not open."""
    price = 0
    if fault is None and number is not None:
        try:
            price = segments * drafts.per_segment_to(number, CountryUse.SEND)
        except CountryNotOpen:
            fault, column = RowFault.COUNTRY, None
    if fault is None:
        return NewRow(row, cells, number, None, column, segments, price)
    return NewRow(row, cells, number, RowFault(fault), column, 0, 0)
