"""Saved texts: what an organization writes often, in the languages of its recipients."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.records import recipient_lists
from risala.engine.model.records.mailings import NAME_MAX
from risala.engine.model.records.recipient_lists import LANGUAGES, SavedText, SavedTexts
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    MaybeWhole,
    OfOrganization,
    Text,
    fault,
    maybe,
    name_text,
    one_of,
    text,
)
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import DEVELOPERS, SUPPORT, VIEWERS
from risala.engine.services import Services
from risala.sms.limits import TEXT_CHARACTERS_MAX


def _body(value: object) -> str:
    found = text(value)
    if not found.strip():
        raise fault("missing", "`{name}` is required.")
    if len(found) > TEXT_CHARACTERS_MAX:
        sentence = f"`{{name}}` can have at most {TEXT_CHARACTERS_MAX} characters."
        raise fault("too_long", sentence)
    return found


_language: Final = one_of("invalid_language", LANGUAGES)
_NAME: Final = ArgumentKind(f"text, at most {NAME_MAX} characters")
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
    """As ``text.show`` has it; None: the change is made whatever changed meanwhile."""


def of_saved_text(services: Services, given: OfSavedText) -> str:
    """The organization of a saved text. Raises ``NotFound``."""
    return services.repositories.saved_texts.saved_text(given.saved_text_id).organization_id


async def _create(call: Call[CreateText]) -> SavedText:
    given, services = call.given, call.services
    new = SavedText(
        id=services.ids.new("txt"),
        organization_id=given.organization_id,
        name=given.name,
        language=given.language,
        text=given.text,
        created_at=call.now_ms,
        created_by=call.caller.who,
    )
    return await services.repositories.saved_texts.add(call.audit(AuditImage.SAVED_TEXT), new)


async def _list(call: Call[OfOrganization]) -> SavedTexts:
    organization_id = call.given.organization_id
    call.services.accounts.organization(organization_id)
    found = call.services.repositories.saved_texts.of_organization(organization_id)
    return SavedTexts(tuple(found))


async def _show(call: Call[OfSavedText]) -> SavedText:
    return call.services.repositories.saved_texts.saved_text(call.given.saved_text_id)


async def _set(call: Call[SetText]) -> SavedText:
    given = call.given
    values = {name: value for name, value in given.given_of(SavedText).items() if value is not None}
    stored = call.services.repositories.saved_texts
    return await stored.change(_signed(call), given.saved_text_id, values)


async def _delete(call: Call[OfSavedText]) -> SavedText:
    stored = call.services.repositories.saved_texts
    return await stored.delete(_signed(call), call.given.saved_text_id)


def _signed(call: Call[Any]) -> AuditEntry:
    return call.audit(AuditImage.SAVED_TEXT, call.given.saved_text_id)


_ONE: Final[dict[str, Any]] = {
    "roles": DEVELOPERS,
    "owner": of_saved_text,
    "changes": SavedText,
}
OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(
        recipient_lists.TEXT_CREATE,
        CreateText,
        _create,
        roles=DEVELOPERS,
        owner=owners.named,
        changes=SavedText,
    ),
    operation(
        recipient_lists.TEXT_LIST,
        OfOrganization,
        _list,
        roles=VIEWERS,
        operators=SUPPORT,
        owner=owners.named,
    ),
    operation(
        recipient_lists.TEXT_SHOW,
        OfSavedText,
        _show,
        roles=VIEWERS,
        operators=SUPPORT,
        owner=of_saved_text,
        edits="saved_text_id",
    ),
    operation(recipient_lists.TEXT_SET, SetText, _set, edits="saved_text_id", **_ONE),
    operation(recipient_lists.TEXT_DELETE, OfSavedText, _delete, **_ONE),
)
