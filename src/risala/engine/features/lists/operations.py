"""What people do with recipient lists, whom an organization writes to again and again, and with
saved texts."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.features.lists import records
from risala.engine.features.lists.growing import ListGrowing
from risala.engine.features.lists.records import (
    LANGUAGES,
    ListGrowth,
    ListPeople,
    PeopleFilter,
    RecipientList,
    RecipientLists,
    SavedText,
    SavedTexts,
)
from risala.engine.features.lists.stored import RecipientListRepository
from risala.engine.features.lists.stored_texts import SavedTextRepository
from risala.engine.features.tables.operations import MaybeSheet
from risala.engine.features.tables.records import CELL_CHARACTERS_MAX, COLUMNS_MAX, NAME_MAX, Chosen
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
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
    one_of,
    text,
)
from risala.engine.kernel.cursors import few_numbers, limit_of, part_of
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditEntry, AuditImage, masked
from risala.engine.model.errors import Invalid
from risala.engine.model.records.search import Findable
from risala.engine.rules.roles import DEVELOPERS, SUPPORT, VIEWERS
from risala.engine.services import Services
from risala.sms.limits import TEXT_CHARACTERS_MAX


def _cells(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > COLUMNS_MAX:
        sentence = f"`{{name}}` must be an object of at most {COLUMNS_MAX} columns with texts."
        raise fault("invalid_cells", sentence)
    cells = {_column(name): any_text(cell).strip() for name, cell in value.items()}
    if any(len(cell) > CELL_CHARACTERS_MAX for cell in cells.values()):
        sentence = f"A value in `{{name}}` can have at most {CELL_CHARACTERS_MAX} characters."
        raise fault("invalid_cells", sentence)
    return cells


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
    """The sheet of a workbook; None: the first one with people."""
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
    """Values for that number; a column that the list does not have yet is added."""


class RemovePerson(OfList):
    """Take a number from a list."""

    number: Number


class SetList(OfList):
    """Give a list another name."""

    name: Annotated[str | None, PlainValidator(maybe(name_text(NAME_MAX))), _NAME] = None
    version: MaybeWhole = None
    """The version as ``list.show`` has it; None: the change is made whatever changed meanwhile."""


class ShowList(OfList):
    """A list with a page of its people, by number."""

    number: MaybeNumber = None
    """Show only this one."""
    digits: MaybeDigits = None
    """Show only numbers with these."""
    contains: MaybeContained = None
    """Show only people with this in a value."""
    after: MaybeText = None
    """The last number of the page before, as that page has it."""
    limit: MaybeWhole = None


def of_list(services: Services, arguments: OfList) -> str:
    """The organization of a recipient list. Raises ``NotFound``."""
    lists = services.repositories.part(RecipientListRepository)
    return lists.recipient_list(arguments.list_id).organization_id


FOUND: Final = (
    Findable(
        kind="list",
        table="recipient_lists",
        title="name",
        names=("name",),
        prefix="lst",
        newest="key",
        where="deleted_at IS NULL",
        page="lists/{}",
        operators=SUPPORT,
    ),
    Findable(
        kind="person",
        table="list_people p JOIN recipient_lists l ON l.key = p.list",
        title="p.number",
        texts=("p.cells",),
        number="p.number",
        number_from="list_people p",
        number_by=(),
        id="l.id || ' ' || p.number",
        place="l.id || '?q=%2B' || substr(p.number, 2)",
        at="l.changed_at",
        newest="l.key",
        organization="l.organization_id",
        where="l.deleted_at IS NULL",
        note="(SELECT group_concat(value, ' · ') FROM json_each(p.cells))",
        page="lists/{}",
        operators=SUPPORT,
    ),
    Findable(
        kind="text",
        table="saved_texts",
        title="name",
        names=("name",),
        texts=("text",),
        prefix="txt",
        newest="created_at",
        note="text",
        page="texts/{}",
        operators=SUPPORT,
    ),
)
"""What a search finds of lists and saved texts; over all organizations nothing."""
OPERATIONS: Final = Operations()
_READ: Final[dict[str, Any]] = {"roles": VIEWERS, "operators": SUPPORT}
_NEW: Final[dict[str, Any]] = {"roles": DEVELOPERS, "owner": owners.named}
_LIST: Final[dict[str, Any]] = {"roles": DEVELOPERS, "owner": of_list, "changes": RecipientList}


@OPERATIONS(records.CREATE, changes=RecipientList, **_NEW)
async def _create(call: Call[CreateList]) -> ListGrowth:
    arguments = call.arguments
    if arguments.upload is not None and arguments.numbers is not None:
        raise _several()
    return await call.part(ListGrowing).create(
        arguments.organization_id,
        arguments.name,
        arguments.upload,
        arguments.numbers,
        who=call.caller.who,
        chosen=arguments.chosen,
        by=call.audit(AuditImage.RECIPIENT_LIST),
    )


@OPERATIONS(records.LIST, owner=owners.named, **_READ)
async def _list(call: Call[OfOrganization]) -> RecipientLists:
    organization_id = call.arguments.organization_id
    call.services.accounts.organization(organization_id)
    return RecipientLists(
        tuple(call.stored(RecipientListRepository).of_organization(organization_id))
    )


@OPERATIONS(records.SHOW, owner=of_list, versioned_by="list_id", shows_texts=True, **_READ)
async def _show(call: Call[ShowList]) -> ListPeople:
    arguments = call.arguments
    part = part_of(call.services.settings.plan, arguments.digits)
    people_filter = PeopleFilter(arguments.number, part, arguments.contains)
    with few_numbers():
        page = await call.stored(RecipientListRepository).page(
            arguments.list_id, people_filter, arguments.after, limit_of(arguments.limit)
        )
    by = call.audit(
        subject=arguments.list_id,
        organization_id=page.list.organization_id,
        details={"people": len(page.people)},
        always=True,
    )
    await call.note_look(by)
    return page


@OPERATIONS(records.ADD, **_LIST)
async def _add(call: Call[AddPeople]) -> ListGrowth:
    arguments, lists, by = call.arguments, call.part(ListGrowing), _signed(call)
    if [arguments.upload, arguments.numbers, arguments.number].count(None) != 2:
        raise _several()
    if arguments.number is not None:
        return await lists.add_person(
            arguments.list_id, arguments.number, arguments.cells or {}, by=by
        )
    chosen = arguments.chosen
    return await lists.add(
        arguments.list_id, arguments.upload, arguments.numbers, chosen=chosen, by=by
    )


def _several() -> Invalid:
    return Invalid("numbers", "not_one", "Give just one of an upload, lines, and a number.")


@OPERATIONS(records.REMOVE, **_LIST)
async def _remove(call: Call[RemovePerson]) -> RecipientList:
    arguments = call.arguments
    by = _signed(call, number=masked(arguments.number))
    return await call.stored(RecipientListRepository).remove(
        by, arguments.list_id, arguments.number, call.now_ms
    )


@OPERATIONS(records.SET, versioned_by="list_id", **_LIST)
async def _set(call: Call[SetList]) -> RecipientList:
    name = call.arguments.name
    values = {} if name is None else {"name": name, "changed_at": call.now_ms}
    return await call.stored(RecipientListRepository).change(
        _signed(call), call.arguments.list_id, values
    )


@OPERATIONS(records.DELETE, **_LIST)
async def _delete(call: Call[OfList]) -> RecipientList:
    return await call.stored(RecipientListRepository).delete(
        _signed(call), call.arguments.list_id, call.now_ms
    )


def _signed(call: Call[Any], **details: object) -> AuditEntry:
    return call.audit(AuditImage.RECIPIENT_LIST, call.arguments.list_id, details=details)


# -- saved texts


def _body(value: object) -> str:
    body = text(value)
    if not body.strip():
        raise fault("missing", "`{name}` is required.")
    if len(body) > TEXT_CHARACTERS_MAX:
        sentence = f"`{{name}}` can have at most {TEXT_CHARACTERS_MAX} characters."
        raise fault("too_long", sentence)
    return body


_language: Final = one_of("invalid_language", LANGUAGES)
_LANGUAGE: Final = ArgumentKind("`fr`, `ar` or `en`")
_BODY: Final = ArgumentKind(f"text, at most {TEXT_CHARACTERS_MAX} characters")


class CreateText(OfOrganization):
    """Save a text under a name. `{{name}}` stands for what the column “name” has for each
    person."""

    name: Annotated[str, PlainValidator(name_text(NAME_MAX)), _NAME]
    language: Annotated[str, PlainValidator(_language), _LANGUAGE]
    text: Annotated[str, PlainValidator(_body), _BODY]


class OfSavedText(Arguments):
    """Names one saved text."""

    saved_text_id: Text


class SetText(OfSavedText):
    """Change a saved text; a value that is not given stays as it is."""

    name: Annotated[str | None, PlainValidator(maybe(name_text(NAME_MAX))), _NAME] = None
    language: Annotated[str | None, PlainValidator(maybe(_language)), _LANGUAGE] = None
    text: Annotated[str | None, PlainValidator(maybe(_body)), _BODY] = None
    version: MaybeWhole = None
    """The version as ``text.show`` has it; None: the change is made whatever changed meanwhile."""


def of_saved_text(services: Services, arguments: OfSavedText) -> str:
    """The organization of a saved text. Raises ``NotFound``."""
    return (
        services.repositories.part(SavedTextRepository)
        .saved_text(arguments.saved_text_id)
        .organization_id
    )


_TEXT: Final[dict[str, Any]] = {"roles": DEVELOPERS, "owner": of_saved_text, "changes": SavedText}


@OPERATIONS(records.TEXT_CREATE, changes=SavedText, **_NEW)
async def _create_text(call: Call[CreateText]) -> SavedText:
    arguments = call.arguments
    new = SavedText(
        id=call.services.ids.new("txt"),
        organization_id=arguments.organization_id,
        name=arguments.name,
        language=arguments.language,
        text=arguments.text,
        created_at=call.now_ms,
        created_by=call.caller.who,
    )
    return await call.stored(SavedTextRepository).add(call.audit(AuditImage.SAVED_TEXT), new)


@OPERATIONS(records.TEXT_LIST, owner=owners.named, **_READ)
async def _list_texts(call: Call[OfOrganization]) -> SavedTexts:
    organization_id = call.arguments.organization_id
    call.services.accounts.organization(organization_id)
    return SavedTexts(tuple(call.stored(SavedTextRepository).of_organization(organization_id)))


@OPERATIONS(records.TEXT_SHOW, owner=of_saved_text, versioned_by="saved_text_id", **_READ)
async def _show_text(call: Call[OfSavedText]) -> SavedText:
    return call.stored(SavedTextRepository).saved_text(call.arguments.saved_text_id)


@OPERATIONS(records.TEXT_SET, versioned_by="saved_text_id", **_TEXT)
async def _set_text(call: Call[SetText]) -> SavedText:
    arguments = call.arguments
    values = {
        name: value for name, value in arguments.given_of(SavedText).items() if value is not None
    }
    return await call.stored(SavedTextRepository).change(
        call.audit(AuditImage.SAVED_TEXT, arguments.saved_text_id), arguments.saved_text_id, values
    )


@OPERATIONS(records.TEXT_DELETE, **_TEXT)
async def _delete_text(call: Call[OfSavedText]) -> SavedText:
    saved_text_id = call.arguments.saved_text_id
    by = call.audit(AuditImage.SAVED_TEXT, saved_text_id)
    return await call.stored(SavedTextRepository).delete(by, saved_text_id)
