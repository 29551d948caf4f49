"""Organizations and their keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.journal.accounts.accounts import DELETED
from risala.engine.journal.rows import KeyChange, OrganizationChange
from risala.engine.model.commands import ApiKey, CreatedKey, KeyType, Mode, Organization
from risala.engine.model.wire import key_wire, organization_wire
from risala.engine.operations import owners, traces
from risala.engine.operations.arguments import (
    Addresses,
    ArgumentKind,
    Arguments,
    Json,
    MaybeAmount,
    MaybeFlag,
    MaybeRate,
    MaybeText,
    MaybeWhole,
    OfOrganization,
    Origins,
    Text,
    fault,
    text,
    whole,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import DEVELOPERS, OPERATORS, OWNERS, VIEWERS

_WRONG_TYPE: Final = "A key is `secret` or `publishable`, `live` or `test`."


def _key_type(value: object) -> KeyType:
    try:
        return KeyType(text(value))
    except ValueError:
        raise fault("invalid_type", _WRONG_TYPE) from None


def _mode(value: object) -> Mode:
    try:
        return Mode.LIVE if value is None else Mode(text(value))
    except ValueError:
        raise fault("invalid_type", _WRONG_TYPE) from None


class CreateOrganization(Arguments):
    """Make an organization."""

    name: Text
    price_per_segment: MaybeAmount = None
    """None: the general price."""


class FindOrganization(Arguments):
    """Find the one organization of this name, or the only one."""

    name: MaybeText = None
    """None: any."""


class SetOrganization(OfOrganization):
    """What is not given stays; null takes the organization's own price, rate or limit away."""

    name: MaybeText = None
    smart_encoding: MaybeFlag = None
    price_per_segment: MaybeAmount = None
    sms_per_s: MaybeRate = None
    low_balance: MaybeAmount = None
    spend_cap: MaybeAmount = None
    """The operator's, of a day."""
    owner_spend_cap: MaybeAmount = None
    time_zone: MaybeText = None
    lean_answers: MaybeFlag = None
    """Whether `sms/get` and its like answer seven fields and four states, and no more."""
    version: MaybeWhole = None


class CreateKey(OfOrganization):
    """Make an API key for an organization."""

    type: Annotated[KeyType, PlainValidator(_key_type), ArgumentKind("`secret` or `publishable`")]
    mode: Annotated[Mode, PlainValidator(_mode), ArgumentKind("`live` or `test`")] = Mode.LIVE
    name: MaybeText = None
    allowed_origins: Origins = None
    allowed_addresses: Addresses = None
    without_id: MaybeFlag = None
    """The answer of a send by it has no `messageId`, for clients that refuse it."""


class OfKey(Arguments):
    """Names one key."""

    key_id: Text


class SetKey(OfKey):
    """Set from where a key may be used; without any of it, only show the key."""

    allowed_origins: Origins = None
    allowed_addresses: Addresses = None
    version: MaybeWhole = None


OVERLAP_S: Final = 86_400
"""A day: time for whoever keeps the value to put the new one in its place."""
OVERLAP_MAX_S: Final = 7 * 86_400
"""A value that holds for longer beside the new one is forgotten."""


def _overlap(value: object) -> int:
    found = OVERLAP_S if value is None else whole(value)
    if not 0 <= found <= OVERLAP_MAX_S:
        raise fault("invalid_number", f"`{{name}}` must be 0 to {OVERLAP_MAX_S} seconds.")
    return found


class RotateKey(OfKey):
    """Give a key another value."""

    overlap_s: Annotated[
        int, PlainValidator(_overlap), ArgumentKind(f"seconds, 0 to {OVERLAP_MAX_S}")
    ] = OVERLAP_S
    """How long the value that it has now holds beside the new one."""


@dataclass(frozen=True, slots=True)
class FoundOrganization:
    """Which organization is meant: no more of it than that, so that no line is left."""

    count: int
    organization_id: str | None
    """Where there is one and no other."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of an organization, without their values."""

    keys: tuple[ApiKey, ...]


def _found_wire(found: FoundOrganization) -> Json:
    return {"count": found.count, "organizationId": found.organization_id}


def _keys_wire(found: Keys) -> Json:
    return {"keys": [key_wire(each) for each in found.keys]}


def _created_wire(created: CreatedKey) -> Json:
    return {"key": key_wire(created.key), "value": created.value}


async def _org_create(call: Call[CreateOrganization]) -> Organization:
    given, services = call.given, call.services
    return await services.accounts.create_organization(
        given.name,
        services.settings.service.currency,
        given.price_per_segment,
        by=call.sign(traces.organization),
    )


async def _org_find(call: Call[FindOrganization]) -> FoundOrganization:
    name = call.given.name
    found = [
        each.id
        for each in call.services.accounts.list_organizations()
        if name in (None, each.name) and each.status != DELETED
    ]
    return FoundOrganization(len(found), found[0] if len(found) == 1 else None)


async def _org_suspend(call: Call[OfOrganization]) -> Organization:
    services, organization_id = call.services, call.given.organization_id
    by = call.sign(traces.organization, organization_id)
    organization = await services.accounts.set_status(organization_id, "suspended", by=by)
    await services.delivery.heed(organization_id)
    services.people.organization_changed(organization_id)
    services.credentials.organization_changed(organization_id)
    return organization


async def _org_resume(call: Call[OfOrganization]) -> Organization:
    services, organization_id = call.services, call.given.organization_id
    by = call.sign(traces.organization, organization_id)
    organization = await services.accounts.set_status(organization_id, "active", by=by)
    await services.delivery.heed(organization_id)
    services.people.organization_changed(organization_id)
    services.credentials.organization_changed(organization_id)
    return organization


async def _org_set(call: Call[SetOrganization]) -> Organization:
    given = call.given
    change = OrganizationChange(
        name=given.name,
        smart_encoding=given.smart_encoding,
        sets_price="price_per_segment" in given.model_fields_set,
        price_per_segment=given.price_per_segment,
        sets_rate="sms_per_s" in given.model_fields_set,
        sms_per_s=given.sms_per_s,
        sets_low_balance="low_balance" in given.model_fields_set,
        low_balance=given.low_balance,
        sets_operator_spend_cap="spend_cap" in given.model_fields_set,
        operator_spend_cap=given.spend_cap,
        sets_owner_spend_cap="owner_spend_cap" in given.model_fields_set,
        owner_spend_cap=given.owner_spend_cap,
        time_zone=given.time_zone,
        lean_answers=given.lean_answers,
    )
    by = call.sign(traces.organization, given.organization_id)
    return await call.services.accounts.change(given.organization_id, change, by=by)


async def _key_create(call: Call[CreateKey]) -> CreatedKey:
    given = call.given
    return await call.services.accounts.create_key(
        given.organization_id,
        given.type,
        given.mode,
        given.name,
        given.allowed_origins,
        given.allowed_addresses,
        without_id=bool(given.without_id),
        by=call.sign(traces.key),
    )


async def _key_set(call: Call[SetKey]) -> ApiKey:
    """Show a key, after changing what was given."""
    given, accounts = call.given, call.services.accounts
    change = KeyChange(
        sets_origins="allowed_origins" in given.model_fields_set,
        origins=given.allowed_origins,
        sets_addresses="allowed_addresses" in given.model_fields_set,
        addresses=given.allowed_addresses,
    )
    if change.sets_origins or change.sets_addresses:
        by = call.sign(traces.key, given.key_id)
        await accounts.change_key(given.key_id, change, by=by)
    return accounts.key(given.key_id)


async def _key_rotate(call: Call[RotateKey]) -> CreatedKey:
    given = call.given
    by = call.sign(traces.key, given.key_id)
    return await call.services.accounts.rotate_key(given.key_id, given.overlap_s, by=by)


async def _key_end_old(call: Call[OfKey]) -> ApiKey:
    by = call.sign(traces.key, call.given.key_id)
    return await call.services.accounts.end_old_value(call.given.key_id, by=by)


async def _key_list(call: Call[OfOrganization]) -> Keys:
    return Keys(tuple(call.services.accounts.list_keys(call.given.organization_id)))


async def _key_enable(call: Call[OfKey]) -> ApiKey:
    by = call.sign(traces.key, call.given.key_id)
    return await call.services.accounts.set_key_enabled(call.given.key_id, enabled=True, by=by)


async def _key_disable(call: Call[OfKey]) -> ApiKey:
    by = call.sign(traces.key, call.given.key_id)
    return await call.services.accounts.set_key_enabled(call.given.key_id, enabled=False, by=by)


async def _key_delete(call: Call[OfKey]) -> ApiKey:
    by = call.sign(traces.key, call.given.key_id)
    return await call.services.accounts.delete_key(call.given.key_id, by=by)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="org.create",
        arguments=CreateOrganization,
        result=Organization,
        wire=organization_wire,
        handler=_org_create,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="org.find",
        arguments=FindOrganization,
        result=FoundOrganization,
        wire=_found_wire,
        handler=_org_find,
        roles=OPERATORS,
    ),
    Operation(
        name="org.suspend",
        arguments=OfOrganization,
        result=Organization,
        wire=organization_wire,
        handler=_org_suspend,
        roles=OPERATORS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="org.resume",
        arguments=OfOrganization,
        result=Organization,
        wire=organization_wire,
        handler=_org_resume,
        roles=OPERATORS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="org.set",
        arguments=SetOrganization,
        result=Organization,
        wire=organization_wire,
        handler=_org_set,
        edits="organization_id",
        roles=OWNERS,
        owner=owners.named,
        reserved=dict.fromkeys(("price_per_segment", "sms_per_s", "spend_cap"), OPERATORS),
        changes=True,
    ),
    Operation(
        name="key.create",
        arguments=CreateKey,
        result=CreatedKey,
        wire=_created_wire,
        handler=_key_create,
        roles=DEVELOPERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="key.list",
        arguments=OfOrganization,
        result=Keys,
        wire=_keys_wire,
        handler=_key_list,
        roles=VIEWERS,
        owner=owners.named,
    ),
    Operation(
        name="key.set",
        arguments=SetKey,
        result=ApiKey,
        wire=key_wire,
        handler=_key_set,
        edits="key_id",
        roles=VIEWERS,
        owner=owners.of_key,
        reserved={"allowed_origins": DEVELOPERS, "allowed_addresses": DEVELOPERS},
        changes=True,
    ),
    Operation(
        name="key.rotate",
        arguments=RotateKey,
        result=CreatedKey,
        wire=_created_wire,
        handler=_key_rotate,
        roles=DEVELOPERS,
        owner=owners.of_key,
        changes=True,
    ),
    *(
        Operation(
            name=name,
            arguments=OfKey,
            result=ApiKey,
            wire=key_wire,
            handler=handler,
            roles=DEVELOPERS,
            owner=owners.of_key,
            changes=True,
        )
        for name, handler in (
            ("key.enable", _key_enable),
            ("key.disable", _key_disable),
            ("key.delete", _key_delete),
            ("key.end_old", _key_end_old),
        )
    ),
)
