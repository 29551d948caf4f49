"""Mailings: making them, their settings, and their life."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.features.mailings import records as mailings
from risala.engine.features.mailings.operations.arguments import (
    MaybeFromHour,
    MaybeMessage,
    MaybeName,
    MaybePace,
    MaybePasted,
    MaybeToHour,
    OfMailing,
    ReadAs,
    meant,
    need_service,
    of_mailing,
)
from risala.engine.features.mailings.records import (
    SETTINGS,
    Mailing,
    Mailings,
    MailingView,
    NewMailing,
    TableColumns,
)
from risala.engine.features.mailings.service import mailing_service
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    MaybeMoment,
    MaybeSender,
    MaybeText,
    MaybeWhole,
    ModeWord,
    OfOrganization,
    Text,
    maybe,
)
from risala.engine.kernel.cursors import cursor
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.commands import AHEAD_MAX_S
from risala.engine.model.errors import Invalid
from risala.engine.model.money import money
from risala.engine.model.records.search import Findable
from risala.engine.model.states import Mode
from risala.engine.rules.roles import DEVELOPERS, SUPPORT, VIEWERS

_SOURCES: Final = ("upload", "list_id", "numbers")
_MAY_BE_NONE: Final = ("sender", "pace", "send_at")
"""The settings that a null takes away; of the others a null leaves what is there."""


class CreateMailing(ReadAs, OfOrganization):
    """Make a draft for the people of an upload, a list or pasted lines. Each row is checked;
    nothing is sent before `mailing.start`."""

    upload: MaybeText = None
    """The id of an uploaded file."""
    list_id: MaybeText = None
    numbers: MaybePasted = Field(default=None, repr=False)
    name: MaybeName = None
    text: MaybeMessage = Field(default=None, repr=False)
    """`{{name}}` stands for what the column `name` has for each person."""
    sender: MaybeSender = Field(default=None, alias="from")
    mode: ModeWord = "live"
    """The mode: in `test` no carrier is used, and nothing is charged."""


class ListMailings(OfOrganization):
    """A page of an organization's mailings, the newest first."""

    older: Annotated[int | None, PlainValidator(maybe(cursor)), ArgumentKind("text")] = None
    """The cursor that the page before has."""


class SetMailing(OfMailing):
    """Change the given settings of a mailing: the text and the sender of a draft, the others until
    it ends. A null for `from`, `pace` and `send_at` takes the setting away."""

    name: MaybeName = None
    text: MaybeMessage = Field(default=None, repr=False)
    sender: MaybeSender = Field(default=None, alias="from")
    pace: MaybePace = None
    """Messages a minute; null: as fast as the carriers take them."""
    from_hour: MaybeFromHour = None
    """The hour of the organization's day from which the mailing sends …"""
    to_hour: MaybeToHour = None
    """… until this one; 0 and 24: all day."""
    send_at: MaybeMoment = None
    """Nothing is sent before; null: when it is started."""
    version: MaybeWhole = None


class ReadMailing(ReadAs, OfMailing):
    """Read the file of a draft again, in another way. All its rows are checked again."""


class StartMailing(OfMailing):
    """Send a draft to all people of its rows that are ready. Bad rows are not sent."""

    version: MaybeWhole = None
    """The version that was shown: refused if somebody else has changed the mailing meanwhile."""


def _signed(call: Call[Any], **details: object) -> AuditEntry:
    return call.audit(AuditImage.MAILING, call.arguments.mailing_id, details=details)


class LookAtUpload(OfOrganization):
    """The columns of an uploaded file, before anything is made of it."""

    upload: Text


FOUND: Final = (
    Findable(
        kind="mailing",
        table="mailings",
        title="name",
        names=("name",),
        texts=("text",),
        prefix="mlg",
        newest="key",
        where="deleted_at IS NULL",
        mode="mode",
        state="state",
        page="mailings/{}",
        operators=SUPPORT,
    ),
)
"""What a search finds of mailings."""
OPERATIONS: Final = Operations()
_LOOK: Final[dict[str, Any]] = {"roles": VIEWERS, "owner": of_mailing}
_CHANGE: Final[dict[str, Any]] = {
    "roles": DEVELOPERS,
    "owner": of_mailing,
    "changes": Mailing,
}
_NEW: Final[dict[str, Any]] = {"roles": DEVELOPERS, "owner": owners.named, "changes": Mailing}


@OPERATIONS(mailings.COLUMNS, roles=DEVELOPERS, owner=owners.named)
async def _columns(call: Call[LookAtUpload]) -> TableColumns:
    arguments = call.arguments
    call.services.accounts.fresh_organization(arguments.organization_id)
    need_service(call, "The file cannot be read")
    return await call.part(mailing_service).columns(arguments.organization_id, arguments.upload)


@OPERATIONS(mailings.CREATE, **_NEW)
async def _create(call: Call[CreateMailing]) -> Mailing:
    arguments = call.arguments
    call.services.accounts.fresh_organization(arguments.organization_id)
    if sum(getattr(arguments, each) is not None for each in _SOURCES) != 1:
        sentence = "A mailing has one of `upload`, `list_id` and `numbers`."
        raise Invalid("upload", "one_source", sentence)
    need_service(call, "The mailing cannot be made")
    new = NewMailing(
        organization_id=arguments.organization_id,
        mode=Mode(arguments.mode),
        created_by=call.caller.who,
        name=arguments.name,
        text=arguments.text or "",
        sender=arguments.sender,
        upload=arguments.upload,
        list_id=arguments.list_id,
        numbers=arguments.numbers,
        chosen=arguments.chosen,
    )
    return await call.part(mailing_service).create(new, by=call.audit(AuditImage.MAILING))


@OPERATIONS(mailings.LIST, roles=VIEWERS, operators=SUPPORT, owner=owners.named)
async def _list(call: Call[ListMailings]) -> Mailings:
    arguments = call.arguments
    call.services.accounts.organization(arguments.organization_id)
    page = call.part(mailing_service).page(
        arguments.organization_id, None if arguments.older is None else str(arguments.older)
    )
    return replace(page, mailings=tuple(_shown(call, each) for each in page.mailings))


@OPERATIONS(mailings.SHOW, operators=SUPPORT, versioned_by="mailing_id", **_LOOK)
async def _show(call: Call[OfMailing]) -> MailingView:
    view = await call.part(mailing_service).view(call.arguments.mailing_id)
    return replace(view, mailing=_shown(call, view.mailing))


def _shown(call: Call[Any], mailing: Mailing) -> Mailing:
    """A mailing as the caller may see it."""
    return replace(mailing, text="", columns=()) if call.hides_texts else mailing


@OPERATIONS(mailings.SET, versioned_by="mailing_id", **_CHANGE)
async def _set(call: Call[SetMailing]) -> Mailing:
    arguments, mailing = call.arguments, meant(call)
    values = {
        name: value
        for name, value in arguments.given_of(Mailing).items()
        if name in SETTINGS and (value is not None or name in _MAY_BE_NONE)
    }
    after = replace(mailing, **values)
    if after.from_hour >= after.to_hour:
        raise Invalid("to_hour", "invalid_hours", "The hours must end after they begin.")
    latest = call.now_ms + AHEAD_MAX_S * 1000
    if (at := values.get("send_at")) is not None and at > latest:
        sentence = f"A mailing can be scheduled at most {AHEAD_MAX_S // 86_400} days ahead."
        raise Invalid("send_at", "too_late", sentence)
    if "text" in values:
        need_service(call, "The text cannot be changed")
    return await call.part(mailing_service).change(arguments.mailing_id, values, by=_signed(call))


@OPERATIONS(mailings.READ, **_CHANGE)
async def _read(call: Call[ReadMailing]) -> Mailing:
    need_service(call, "The file cannot be read")
    arguments = call.arguments
    return await call.part(mailing_service).read(
        arguments.mailing_id, arguments.chosen, by=_signed(call)
    )


@OPERATIONS(mailings.START, **_CHANGE)
async def _start(call: Call[StartMailing]) -> Mailing:
    mailing = meant(call)
    need_service(call, "The mailing cannot be started")
    details = {"ready": mailing.ready, "bad": mailing.bad, "price": money(mailing.price)}
    return await call.part(mailing_service).start(mailing.id, by=_signed(call, **details))


@OPERATIONS(mailings.PAUSE, operators=SUPPORT, **_CHANGE)
async def _pause(call: Call[OfMailing]) -> Mailing:
    by = _signed(call, **_progress(call))
    return await call.part(mailing_service).pause(call.arguments.mailing_id, by=by)


@OPERATIONS(mailings.GO_ON, **_CHANGE)
async def _go_on(call: Call[OfMailing]) -> Mailing:
    need_service(call, "The mailing cannot go on")
    by = _signed(call, **_progress(call))
    return await call.part(mailing_service).go_on(call.arguments.mailing_id, by=by)


@OPERATIONS(mailings.STOP, **_CHANGE)
async def _stop(call: Call[OfMailing]) -> Mailing:
    by = _signed(call, **_progress(call))
    return await call.part(mailing_service).stop(call.arguments.mailing_id, by=by)


@OPERATIONS(mailings.AGAIN, **_CHANGE)
async def _again(call: Call[OfMailing]) -> Mailing:
    mailing = meant(call)
    need_service(call, "The mailing cannot be made")
    by = call.audit(AuditImage.MAILING, details={"of": mailing.id})
    return await call.part(mailing_service).again(mailing.id, created_by=call.caller.who, by=by)


@OPERATIONS(mailings.DELETE, **_CHANGE)
async def _delete(call: Call[OfMailing]) -> Mailing:
    by = _signed(call, **_progress(call))
    return await call.part(mailing_service).delete(call.arguments.mailing_id, by=by)


def _progress(call: Call[OfMailing]) -> dict[str, int]:
    """How far a mailing has come, for the audit trail."""
    mailing = meant(call)
    return {"accepted": mailing.accepted, "ready": mailing.ready}
