"""Recipient lists: people whom an organization writes to again and again."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.audit import AuditEntry, AuditImage, masked
from risala.engine.model.errors import Invalid
from risala.engine.model.mailings import Chosen
from risala.engine.model.records import recipient_lists
from risala.engine.model.records.mailings import CELL_CHARACTERS_MAX, COLUMNS_MAX, NAME_MAX
from risala.engine.model.records.recipient_lists import (
    ListGrowth,
    ListPeople,
    PeopleFilter,
    RecipientList,
    RecipientLists,
)
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Flag,
    MaybeContained,
    MaybeDigits,
    MaybeNumber,
    MaybeText,
    MaybeWhole,
    Number,
    OfOrganization,
    Text,
    any_text,
    fault,
    maybe,
    name_text,
)
from risala.engine.operations.cursors import few_numbers, limit_of, part_of
from risala.engine.operations.mailings.arguments import MaybeSheet
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import DEVELOPERS, SUPPORT, VIEWERS
from risala.engine.services import Services


def _cells(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > COLUMNS_MAX:
        sentence = f"`{{name}}` must be an object of at most {COLUMNS_MAX} columns with texts."
        raise fault("invalid_cells", sentence)
    found = {_column(name): any_text(cell).strip() for name, cell in value.items()}
    if any(len(cell) > CELL_CHARACTERS_MAX for cell in found.values()):
        sentence = f"A value in `{{name}}` can have at most {CELL_CHARACTERS_MAX} characters."
        raise fault("invalid_cells", sentence)
    return found


_column: Final = name_text(NAME_MAX)
_NAME: Final = ArgumentKind(f"text, at most {NAME_MAX} characters")
Cells = Annotated[
    dict[str, str] | None,
    PlainValidator(maybe(_cells)),
    ArgumentKind("object: a text for each column's name"),
]


class PeopleGiven(Arguments):
    """A table of people."""

    upload: MaybeText = None
    """A file that was uploaded: CSV, TSV or XLSX."""
    numbers: MaybeText = None
    """Lines with a number each, and further columns if the lines have separators."""
    sheet: MaybeSheet = None
    """Of a workbook; None: the first one with people."""
    with_hidden: Flag = False
    """Whether rows and columns are read that the sheet hides."""

    @property
    def chosen(self) -> Chosen:
        return Chosen(sheet=self.sheet, with_hidden=self.with_hidden)


class CreateList(PeopleGiven, OfOrganization):
    """Create a list of people, from an upload or from pasted lines, or empty."""

    name: Annotated[str, PlainValidator(name_text(NAME_MAX)), _NAME]


class OfList(Arguments):
    """Names one list."""

    list_id: Text


class AddPeople(PeopleGiven, OfList):
    """Add people to a list: an upload, pasted lines, or one number with its values. A number that
    is on the list already gets the new values."""

    number: MaybeNumber = None
    cells: Cells = None
    """Of that number; a column that the list does not have yet is added."""


class RemovePerson(OfList):
    """Take a number from a list."""

    number: Number


class SetList(OfList):
    """Give a list another name."""

    name: Annotated[str | None, PlainValidator(maybe(name_text(NAME_MAX))), _NAME] = None
    version: MaybeWhole = None
    """As ``list.show`` has it; None: the change is made whatever changed meanwhile."""


class ShowList(OfList):
    """A list with a page of its people, by number."""

    number: MaybeNumber = None
    """Show only this one."""
    digits: MaybeDigits = None
    """Show only numbers with these."""
    contains: MaybeContained = None
    """Show only people with this in a value."""
    after: MaybeText = None
    """As the page before has it."""
    limit: MaybeWhole = None


def of_list(services: Services, given: OfList) -> str:
    """The organization of a recipient list. Raises ``NotFound``."""
    return services.repositories.recipient_lists.recipient_list(given.list_id).organization_id


async def _create(call: Call[CreateList]) -> ListGrowth:
    given = call.given
    if given.upload is not None and given.numbers is not None:
        raise _several()
    return await call.services.lists.create(
        given.organization_id,
        given.name,
        given.upload,
        given.numbers,
        who=call.caller.who,
        chosen=given.chosen,
        by=call.audit(AuditImage.RECIPIENT_LIST),
    )


async def _add(call: Call[AddPeople]) -> ListGrowth:
    given, lists, by = call.given, call.services.lists, _signed(call)
    if [given.upload, given.numbers, given.number].count(None) != 2:
        raise _several()
    if given.number is not None:
        return await lists.add_person(given.list_id, given.number, given.cells or {}, by=by)
    chosen = given.chosen
    return await lists.add(given.list_id, given.upload, given.numbers, chosen=chosen, by=by)


def _several() -> Invalid:
    return Invalid("numbers", "not_one", "Give just one of an upload, lines, and a number.")


async def _list(call: Call[OfOrganization]) -> RecipientLists:
    return RecipientLists(tuple(call.services.lists.of_organization(call.given.organization_id)))


async def _show(call: Call[ShowList]) -> ListPeople:
    given = call.given
    part = part_of(call.services.settings.plan, given.digits)
    wanted = PeopleFilter(given.number, part, given.contains)
    limit = limit_of(given.limit)
    with few_numbers():
        found = await call.services.lists.page(given.list_id, wanted, given.after, limit)
    by = call.audit(
        subject=given.list_id,
        organization_id=found.list.organization_id,
        said={"people": len(found.people)},
        always=True,
    )
    await call.note_look(by)
    return found


async def _set(call: Call[SetList]) -> RecipientList:
    given = call.given
    return await call.services.lists.rename(given.list_id, given.name, by=_signed(call))


async def _remove(call: Call[RemovePerson]) -> RecipientList:
    given = call.given
    by = _signed(call, number=masked(given.number))
    return await call.services.lists.remove(given.list_id, given.number, by=by)


async def _delete(call: Call[OfList]) -> RecipientList:
    return await call.services.lists.delete(call.given.list_id, by=_signed(call))


def _signed(call: Call[Any], **said: object) -> AuditEntry:
    return call.audit(AuditImage.RECIPIENT_LIST, call.given.list_id, said=said)


_ONE: Final[dict[str, Any]] = {
    "roles": DEVELOPERS,
    "owner": of_list,
    "changes": RecipientList,
}
OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(
        recipient_lists.CREATE,
        CreateList,
        _create,
        roles=DEVELOPERS,
        owner=owners.named,
        changes=RecipientList,
    ),
    operation(
        recipient_lists.LIST,
        OfOrganization,
        _list,
        roles=VIEWERS,
        operators=SUPPORT,
        owner=owners.named,
    ),
    operation(
        recipient_lists.SHOW,
        ShowList,
        _show,
        roles=VIEWERS,
        operators=SUPPORT,
        owner=of_list,
        edits="list_id",
        reveals=True,
    ),
    operation(recipient_lists.ADD, AddPeople, _add, **_ONE),
    operation(recipient_lists.REMOVE, RemovePerson, _remove, **_ONE),
    operation(recipient_lists.SET, SetList, _set, edits="list_id", **_ONE),
    operation(recipient_lists.DELETE, OfList, _delete, **_ONE),
)
