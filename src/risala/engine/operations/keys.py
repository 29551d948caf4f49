"""API keys."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    Addresses,
    ArgumentKind,
    Arguments,
    Flag,
    MaybeMoment,
    MaybeWhole,
    OfOrganization,
    Origins,
    Text,
    fault,
    maybe,
    name_text,
    one_of,
    text,
    whole,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.records import keys
from risala.engine.model.records.fields import NAME_MAX
from risala.engine.model.records.keys import (
    ApiKey,
    CreatedKey,
    KeyChallenge,
    KeyPlaces,
    Keys,
    KeyType,
)
from risala.engine.model.states import Mode
from risala.engine.rules.roles import DEVELOPERS, READERS, SUPPORT, VIEWERS

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


_NAME: Final = name_text(
    NAME_MAX, "invalid_name", f"A name can have at most {NAME_MAX} characters."
)
KeyName = Annotated[
    str | None,
    PlainValidator(maybe(_NAME)),
    ArgumentKind(f"text, at most {NAME_MAX} characters"),
]


Contact = Annotated[
    str | None,
    PlainValidator(maybe(name_text(keys.CONTACT_MAX))),
    ArgumentKind(f"text, at most {keys.CONTACT_MAX} characters"),
]


_CHALLENGES: Final = tuple(KeyChallenge)
_is_challenge: Final = one_of("invalid_challenge", _CHALLENGES)


def _challenge(value: object) -> KeyChallenge:
    return KeyChallenge(_is_challenge(value))


class CreateKey(OfOrganization):
    """Create an API key for an organization."""

    type: Annotated[KeyType, PlainValidator(_key_type), ArgumentKind("`secret` or `publishable`")]
    mode: Annotated[Mode, PlainValidator(_mode), ArgumentKind("`live` or `test`")] = Mode.LIVE
    name: KeyName = None
    allowed_origins: Origins = None
    allowed_addresses: Addresses = None
    without_id: Flag = False
    """Answers to its sends have no `messageId`, for clients that refuse that field."""
    contact: Contact = None
    expires_at: MaybeMoment = None
    """The time from which the key is refused; without it, never, or as late as the rules let it."""


class OfKey(Arguments):
    """Names one key."""

    key_id: Text


class SetKey(OfKey):
    """Change a key; a value that is not given stays as it is."""

    contact: Contact = None
    allowed_origins: Origins = None
    allowed_addresses: Addresses = None
    without_id: Flag = False
    """Answers to its sends have no `messageId`, from the next request on."""
    expires_at: MaybeMoment = None
    """The time from which the key is refused; null: never, or as late as the rules let it."""
    challenge: Annotated[
        KeyChallenge, PlainValidator(_challenge), ArgumentKind(f"one of {', '.join(_CHALLENGES)}")
    ] = KeyChallenge.NEVER
    """When a publishable key's codes want work of the visitor's browser first."""
    version: MaybeWhole = None


OVERLAP_S: Final = 86_400
"""A day: time to put the new value in its place everywhere."""
OVERLAP_MAX_S: Final = 7 * 86_400
"""An old value that works for longer is forgotten."""


def overlap(value: object) -> int:
    """Seconds for which an old value works beside the new one."""
    seconds = OVERLAP_S if value is None else whole(value)
    if not 0 <= seconds <= OVERLAP_MAX_S:
        raise fault("invalid_number", f"`{{name}}` must be 0 to {OVERLAP_MAX_S} seconds.")
    return seconds


class RotateKey(OfKey):
    """Give a key a new value."""

    overlap_s: Annotated[
        int, PlainValidator(overlap), ArgumentKind(f"seconds, 0 to {OVERLAP_MAX_S}")
    ] = OVERLAP_S
    """How long the current value still works."""


OPERATIONS: Final = Operations()
_ONE: Final[dict[str, Any]] = {"roles": DEVELOPERS, "owner": owners.of_key, "changes": ApiKey}


@OPERATIONS(keys.CREATE, roles=DEVELOPERS, owner=owners.named, changes=ApiKey, fresh=True)
async def _create(call: Call[CreateKey]) -> CreatedKey:
    arguments = call.arguments
    return await call.services.accounts.create_key(
        arguments.organization_id,
        arguments.type,
        arguments.mode,
        by=call.audit(AuditImage.KEY),
        **arguments.values_of(ApiKey, besides=("organization_id", "type", "mode")),
    )


@OPERATIONS(keys.LIST, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _list(call: Call[OfOrganization]) -> Keys:
    accounts, organization_id = call.services.accounts, call.arguments.organization_id
    keys = accounts.list_keys(organization_id)
    return Keys(tuple(keys), accounts.age_days(organization_id))


@OPERATIONS(keys.SHOW, roles=VIEWERS, operators=READERS, owner=owners.of_key, versioned_by="key_id")
async def _show(call: Call[OfKey]) -> ApiKey:
    return call.services.accounts.key(call.arguments.key_id)


@OPERATIONS(keys.PLACES, roles=VIEWERS, operators=READERS, owner=owners.of_key)
async def _found_at(call: Call[OfKey]) -> KeyPlaces:
    return KeyPlaces(tuple(call.services.accounts.places_of(call.arguments.key_id)))


@OPERATIONS(keys.SET, versioned_by="key_id", **_ONE)
async def _set(call: Call[SetKey]) -> ApiKey:
    accounts, key_id = call.services.accounts, call.arguments.key_id
    await accounts.change_key(key_id, call.arguments.given_of(ApiKey), by=_signed(call))
    return accounts.key(key_id)


@OPERATIONS(keys.ROTATE, **_ONE, fresh=True)
async def _rotate(call: Call[RotateKey]) -> CreatedKey:
    arguments = call.arguments
    return await call.services.accounts.rotate_key(
        arguments.key_id, arguments.overlap_s, by=_signed(call)
    )


@OPERATIONS(keys.END_OLD, **_ONE)
async def _end_old(call: Call[OfKey]) -> ApiKey:
    return await call.services.accounts.end_old_value(call.arguments.key_id, by=_signed(call))


@OPERATIONS(keys.ENABLE, operators=SUPPORT, **_ONE)
async def _enable(call: Call[OfKey]) -> ApiKey:
    accounts, key_id = call.services.accounts, call.arguments.key_id
    return await accounts.set_key_enabled(key_id, enabled=True, by=_signed(call))


@OPERATIONS(keys.DISABLE, operators=SUPPORT, **_ONE)
async def _disable(call: Call[OfKey]) -> ApiKey:
    accounts, key_id = call.services.accounts, call.arguments.key_id
    return await accounts.set_key_enabled(key_id, enabled=False, by=_signed(call))


@OPERATIONS(keys.DELETE, **_ONE)
async def _delete(call: Call[OfKey]) -> ApiKey:
    return await call.services.accounts.delete_key(call.arguments.key_id, by=_signed(call))


def _signed(call: Call[Any]) -> AuditEntry:
    return call.audit(AuditImage.KEY, call.arguments.key_id)
