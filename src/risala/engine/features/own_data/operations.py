"""What owners do with their data: how long it is kept, its erasure, and a file with all of it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import PlainValidator, ValidationInfo

from risala.config.model import RetentionSection
from risala.engine.features.own_data import records, retention
from risala.engine.features.own_data.erasing import go_on
from risala.engine.features.own_data.exporting import Errands, file_of
from risala.engine.features.own_data.records import (
    STEPS,
    Erasure,
    ErasureProgress,
    Erasures,
    ErasureState,
    ErasureStep,
    Export,
    Exports,
    ExportState,
    Fetched,
    Forgotten,
    NextUnit,
    NumberFigures,
    OrganizationRetention,
    RetentionDays,
    RetentionOfKind,
    RetentionRules,
    WentOn,
    holding,
    offered,
)
from risala.engine.features.own_data.stored.erasing import ErasureRepository
from risala.engine.features.own_data.stored.exports import ExportRepository
from risala.engine.features.own_data.stored.retention import RetentionRepository
from risala.engine.features.request_log.service import request_log
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeText,
    MaybeWhole,
    NoArguments,
    OfOrganization,
    Text,
    text,
    unread,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage, masked
from risala.engine.model.errors import Conflict, FieldFault, Forbidden, Invalid, NotFound
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.records.accounts import DELETED
from risala.engine.model.records.people.organizations import LIMITED, StoredOfKind
from risala.engine.rules.people.emails import typed_address
from risala.engine.rules.roles import OPERATORS, OWNERS, READERS, SUPPORT
from risala.engine.services import Services
from risala.sms.numbering.plan import DEFAULT
from risala.sms.numbering.written import NumberFault, UnreadNumber, read_written
from risala.sms.typed import Purpose, typed

OPERATIONS: Final = Operations()
_NAMED: Final[dict[str, Any]] = {"roles": OWNERS, "owner": owners.named}


class Forget(Arguments):
    """Run one unit of retention now, from where the last one stopped."""

    place: MaybeWhole = None
    after: MaybeText = None


@OPERATIONS(records.RETENTION_SHOW, roles=OPERATORS, operators=READERS)
async def _show(call: Call[NoArguments]) -> RetentionRules:
    section, kept = call.services.settings.retention, call.stored(RetentionRepository)
    return RetentionRules(tuple(retention.overview(section, kept, call.now_ms)))


@OPERATIONS(records.RETENTION_RUN, roles=OPERATORS, changes=Forgotten)
async def _run(call: Call[Forget]) -> Forgotten:
    """Do one unit of work; call it again with the answer's ``next`` until that is null."""
    kept = call.stored(RetentionRepository)
    rules = retention.all_rules(call.services.settings.retention, kept)
    place, after = call.arguments.place or 0, call.arguments.after or ""
    places = [(rule, walk) for rule in rules for walk in range(len(rule.walks))]
    if not 0 <= place < len(places) or not re.fullmatch(r"[0-9]{0,18}", after):
        raise Invalid("place", "invalid_place", "Take `place` and `after` from an answer.")
    rule, walk = places[place]
    by = call.audit(subject=rule.name)
    done = await retention.step(kept, rule, walk, after, call.now_ms, by=by)
    following: NextUnit | None = NextUnit(place, done.after or None)
    if done.done:
        following = NextUnit(place + 1, None) if place + 1 < len(places) else None
    return Forgotten(rule.name, done.rows, following)


# -- an organization's days


class Choose(OfOrganization):
    """Null or not given: kept for the operator's own time."""

    texts_days: MaybeWhole = None
    events_days: MaybeWhole = None
    inbound_days: MaybeWhole = None
    version: MaybeWhole = None


async def _found(call: Call[Any], organization_id: str) -> OrganizationRetention:
    settings, services = call.services.settings, call.services
    days = call.stored(RetentionRepository).days_of(organization_id)
    stored = await services.repositories.storage.of_organization(organization_id)
    of_uploads = duty(Duty.UPLOADS_WAITING)
    waiting, size = (0, 0) if of_uploads is None else await of_uploads(services, organization_id)
    return OrganizationRetention(
        organization_id,
        _of_each_kind(days, settings.retention),
        (
            *(each for each in stored if each.name in LIMITED),
            StoredOfKind("uploads", waiting, 0, size),
            *(each for each in stored if each.name not in LIMITED),
        ),
        settings.limits.stored_bytes,
    )


def _of_each_kind(days: RetentionDays, section: RetentionSection) -> tuple[RetentionOfKind, ...]:
    return tuple(
        RetentionOfKind(
            name,
            holding(chosen, operators) or None,
            chosen,
            operators or None,
            offered(operators),
        )
        for name, chosen, operators in (
            ("texts", days.texts, section.texts_days),
            ("events", days.events, section.events_days),
            ("inbound", days.inbound, section.inbound_days),
        )
    )


@OPERATIONS(records.KEPT_SHOW, versioned_by="organization_id", operators=READERS, **_NAMED)
async def _show_days(call: Call[OfOrganization]) -> OrganizationRetention:
    organization_id = call.arguments.organization_id
    call.services.accounts.fresh_organization(organization_id)
    return await _found(call, organization_id)


@OPERATIONS(records.KEPT_SET, versioned_by="organization_id", changes=RetentionDays, **_NAMED)
async def _set_days(call: Call[Choose]) -> OrganizationRetention:
    arguments, organization_id = call.arguments, call.arguments.organization_id
    call.services.accounts.fresh_organization(organization_id)
    days = RetentionDays(arguments.texts_days, arguments.events_days, arguments.inbound_days)
    faults = [
        FieldFault(
            f"{each.name}_days",
            "invalid_days",
            f"`{each.name}_days` is one of {', '.join(map(str, each.offered)) or 'none'}.",
        )
        for each in _of_each_kind(days, call.services.settings.retention)
        if each.chosen is not None and each.chosen not in each.offered
    ]
    if faults:
        raise Invalid.of(faults)
    by = call.audit(AuditImage.RETENTION_DAYS, organization_id)
    await call.stored(RetentionRepository).choose(by, organization_id, days)
    return await _found(call, organization_id)


# -- erasures


DELETIONS_SHOWN_MAX: Final = 50
"""Deletions that a list shows: the latest."""


_is_whole: Final = re.compile(r"\+[1-9][0-9]{6,14}", re.ASCII).fullmatch


def _number(value: object, info: ValidationInfo) -> str:
    """A whole number of any country: people write from abroad, too; or an e-mail address, which
    codes were sent to."""
    typed, plan = text(value), info.context or DEFAULT
    if (address := typed_address(typed)) is not None:
        return address
    try:
        return plan.read(typed)
    except UnreadNumber as error:
        number = read_written(typed, lambda digits: digits if _is_whole(digits) else None)
        if isinstance(number, NumberFault):
            raise unread(error, plan) from None
    return number


class OfNumber(OfOrganization):
    """Names a number, as a person writes it."""

    number: Annotated[
        str,
        PlainValidator(_number),
        ArgumentKind("phone number, also abroad; or an e-mail address"),
    ]


class OfErasure(Arguments):
    erasure_id: Text


def progress_of(erasure: Erasure) -> ErasureProgress:
    is_done = erasure.ended_at is not None
    return ErasureProgress(
        id=erasure.id,
        organization_id=erasure.organization_id,
        number=None if erasure.last4 is None else masked(erasure.last4),
        state=ErasureState.DONE if is_done else ErasureState.UNDER_WAY,
        step=STEPS.index(erasure.step),
        steps=len(STEPS),
        waits=erasure.step is ErasureStep.CARRIERS and not is_done,
        gone=erasure.gone,
        asked_by=erasure.asked_by,
        created_at=erasure.created_at,
        ended_at=erasure.ended_at,
    )


def _owner_of_erasure(services: Services, arguments: OfErasure) -> str:
    erasures = services.repositories.part(ErasureRepository)
    return erasures.find(arguments.erasure_id).organization_id


@OPERATIONS(records.NUMBER_SHOW, operators=SUPPORT, **_NAMED)
async def _show_number(call: Call[OfNumber]) -> NumberFigures:
    organization_id, number = call.arguments.organization_id, call.arguments.number
    call.services.accounts.fresh_organization(organization_id)
    return call.stored(ErasureRepository).of_number(organization_id, number)


@OPERATIONS(records.NUMBER_FORGET, changes=ErasureProgress, **_NAMED)
async def _forget(call: Call[OfNumber]) -> ErasureProgress:
    """Order the erasure. It is done in steps; ``erasure.show`` shows the progress."""
    organization_id, number = call.arguments.organization_id, call.arguments.number
    services, now_ms = call.services, call.now_ms
    services.accounts.fresh_organization(organization_id)
    erasure_id, who = services.ids.new("del"), call.caller.who
    by = call.audit(organization_id=organization_id, details={"number": masked(number)})
    erasure = await call.stored(ErasureRepository).begin(
        by, erasure_id, organization_id, number, who, now_ms
    )
    services.part(Errands).ring()
    return progress_of(erasure)


@OPERATIONS(records.ERASURE_LIST, operators=READERS, **_NAMED)
async def _list_erasures(call: Call[OfOrganization]) -> Erasures:
    organization_id = call.arguments.organization_id
    call.services.accounts.fresh_organization(organization_id)
    erasures = call.stored(ErasureRepository).of_organization(organization_id, DELETIONS_SHOWN_MAX)
    return Erasures(tuple(progress_of(each) for each in erasures))


@OPERATIONS(records.ERASURE_SHOW, roles=OWNERS, operators=READERS, owner=_owner_of_erasure)
async def _show_erasure(call: Call[OfErasure]) -> ErasureProgress:
    return progress_of(call.stored(ErasureRepository).find(call.arguments.erasure_id))


@OPERATIONS(records.ERASURE_RUN, roles=OPERATORS)
async def _run_erasure(call: Call[OfErasure]) -> WentOn:
    """Do one unit of work. A running service does the same by itself, and both may run at once."""
    done = await go_on(call.services, call.arguments.erasure_id)
    return WentOn(progress_of(done.erasure), done.waits)


# -- the end of an organization


class Delete(OfOrganization):
    """The caller types the organization's name, so as not to delete the wrong one."""

    name: Text


@OPERATIONS(
    records.DELETE_ORGANIZATION, changes=ErasureProgress, allows_deleted=True, fresh=True, **_NAMED
)
async def _delete(call: Call[Delete]) -> ErasureProgress:
    """Keys, members and endpoints end at once; stored data is deleted afterwards, in steps."""
    arguments, services = call.arguments, call.services
    organization_id = arguments.organization_id
    organization = services.accounts.fresh_organization(organization_id)
    if organization.status == DELETED:
        raise NotFound("There is no such organization.")
    if typed(arguments.name, Purpose.HEADING) != typed(organization.name, Purpose.HEADING):
        text = "`name` must be the organization's name, as it is shown."
        raise Invalid("name", "other_name", text)
    erasure_id, now_ms, who = services.ids.new("del"), call.now_ms, call.caller.who
    actor_id = (call.caller.user_id or "") if call.caller.is_member else None
    try:
        deleted = await call.stored(ErasureRepository).delete_organization(
            call.audit(AuditImage.ORGANIZATION, organization_id),
            organization_id,
            erasure_id,
            who,
            now_ms,
            actor_id=actor_id,
        )
    finally:
        services.accounts.forget_organization(organization_id)
        services.forget_organization(organization_id)
    await services.delivery.reload_organization(organization_id)
    services.people.organization_deleted(organization_id, deleted.users)
    services.intake.opt_outs.look_again()
    for endpoint_id in deleted.endpoints:
        services.delivery.hint_webhook(endpoint_id)
    await services.part(request_log).forget(organization_id)
    services.part(Errands).ring()
    return progress_of(call.stored(ErasureRepository).find(erasure_id))


# -- exports


EXPORTS_SHOWN_MAX: Final = 20
"""Files that a list shows: the latest."""


class OfExport(Arguments):
    export_id: Text


def _owner_of_export(services: Services, arguments: OfExport) -> str:
    exports = services.repositories.part(ExportRepository)
    return exports.find(arguments.export_id).organization_id


_FILE: Final[dict[str, Any]] = {"roles": OWNERS, "owner": _owner_of_export}


@OPERATIONS(records.EXPORT_REQUEST, changes=Export, fresh=True, **_NAMED)
async def _request(call: Call[OfOrganization]) -> Export:
    """Have a file written; ``export.show`` shows the progress."""
    organization_id, services, now_ms = call.arguments.organization_id, call.services, call.now_ms
    services.accounts.fresh_organization(organization_id)
    if not services.delivery.running:
        raise Conflict(
            "The file cannot be written because the service is not running. Start the service "
            "first."
        )
    export_id, who = services.ids.new("exp"), call.caller.who
    by = call.audit(organization_id=organization_id)
    export = await call.stored(ExportRepository).begin(by, export_id, organization_id, who, now_ms)
    services.part(Errands).exporting.ring()
    return export


@OPERATIONS(records.EXPORT_LIST, operators=READERS, **_NAMED)
async def _list_exports(call: Call[OfOrganization]) -> Exports:
    organization_id = call.arguments.organization_id
    call.services.accounts.fresh_organization(organization_id)
    exports = call.stored(ExportRepository).of_organization(organization_id, EXPORTS_SHOWN_MAX)
    return Exports(tuple(exports))


@OPERATIONS(records.EXPORT_SHOW, operators=READERS, **_FILE)
async def _show_export(call: Call[OfExport]) -> Export:
    return call.stored(ExportRepository).find(call.arguments.export_id)


@OPERATIONS(records.EXPORT_FETCH, shows_texts=True, fresh=True, **_FILE)
async def _fetch(call: Call[OfExport]) -> Fetched:
    if call.hides_texts:
        raise Forbidden("The file holds messages' texts. Only owners may fetch it, on their pages.")
    export = call.stored(ExportRepository).find(call.arguments.export_id)
    over = export.expires_at is not None and export.expires_at <= call.now_ms
    if export.state is not ExportState.READY or over:
        raise NotFound("This file no longer exists.")
    by = call.audit(subject=export.id, organization_id=export.organization_id, always=True)
    await call.note(by)
    return Fetched(export, str(file_of(call.services, export)))


@OPERATIONS(records.EXPORT_DELETE, changes=Export, **_FILE)
async def _drop(call: Call[OfExport]) -> Export:
    export_id, now_ms = call.arguments.export_id, call.now_ms
    export = call.stored(ExportRepository).find(export_id)
    by = call.audit(subject=export_id, organization_id=export.organization_id)
    dropped = await call.stored(ExportRepository).drop(by, export_id, now_ms)
    call.part(Errands).exporting.ring()
    return dropped
