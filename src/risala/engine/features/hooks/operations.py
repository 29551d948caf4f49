"""Hooks: the addresses that other software sends through."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator, ValidationInfo

from risala.engine.features.hooks import records
from risala.engine.features.hooks.records import (
    NUMBERS_MAX,
    AddressedHook,
    Hook,
    HookPreset,
    HookPresets,
    Hooks,
    MadeHook,
)
from risala.engine.features.hooks.registry import HookRegistry
from risala.engine.features.hooks.rules.presets import CUSTOM, TABLE_CHARACTERS_MAX, preset, presets
from risala.engine.features.hooks.rules.requests import HookProof
from risala.engine.features.hooks.stored import HookRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    Addresses,
    ArgumentKind,
    Arguments,
    MaybeSender,
    MaybeText,
    MaybeWhole,
    ModeWord,
    OfMaybeOrganization,
    OfOrganization,
    Text,
    fault,
    maybe,
    name_text,
    number,
    one_of,
    text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.records.fields import NAME_MAX
from risala.engine.model.records.search import Findable
from risala.engine.model.states import Mode
from risala.engine.operations.keys import OVERLAP_MAX_S, OVERLAP_S, overlap
from risala.engine.rules.roles import DEVELOPERS, READERS, SUPPORT, VIEWERS
from risala.engine.rules.verify_settings import language_fault
from risala.engine.services import Services


def _numbers(value: object, info: ValidationInfo) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple | None):
        raise fault("not_a_list", "`{name}` must be a list of phone numbers.")
    return tuple(dict.fromkeys(number(each, info) for each in value or ())) or None


def _mapping(value: object) -> str:
    mapping = text(value)
    if len(mapping) > TABLE_CHARACTERS_MAX:
        sentence = f"`{{name}}` can have at most {TABLE_CHARACTERS_MAX} characters."
        raise fault("invalid_mapping", sentence)
    return mapping


Name = Annotated[
    str | None,
    PlainValidator(maybe(name_text(NAME_MAX))),
    ArgumentKind(f"text, at most {NAME_MAX} characters"),
]
Numbers = Annotated[
    tuple[str, ...] | None,
    PlainValidator(_numbers),
    ArgumentKind(f"list of at most {NUMBERS_MAX} phone numbers"),
]
Locale = Annotated[
    str | None,
    PlainValidator(maybe(text)),
    ArgumentKind("language of codes, such as `fr`"),
]
Proof = Annotated[
    str | None,
    PlainValidator(maybe(one_of("invalid_proof", (each.value for each in HookProof)))),
    ArgumentKind(" or ".join(f"`{each.value}`" for each in HookProof)),
]


class CreateHook(OfOrganization):
    """Create an address through which other software sends."""

    preset: Text
    """The program, as `hook.presets` lists it; or `custom`, with a `mapping`."""
    proof: Proof = None
    """How the program proves itself; None: as its preset has it first."""
    mode: ModeWord = "live"
    name: Name = None
    numbers: Numbers = None
    """The numbers that get its messages, if the program names no recipient."""
    alarm: MaybeText = None
    """The chain of the alarm that its alerts raise, in place of messages to these numbers."""
    sender: MaybeSender = Field(default=None, alias="from")
    locale: Locale = None
    """The language of codes whose request names none."""
    mapping: Annotated[str | None, PlainValidator(maybe(_mapping)), ArgumentKind("JSON text")] = (
        None
    )
    """How requests are read and answered, of the preset `custom`."""
    allowed_addresses: Addresses = None
    secret: MaybeText = Field(default=None, repr=False)
    """The secret that the program made; None: it is made here."""


class OfHook(Arguments):
    """Names one hook."""

    hook_id: Text


class SetHook(OfHook):
    """Change a hook; a value that is not given stays as it is."""

    name: Name = None
    numbers: Numbers = None
    alarm: MaybeText = None
    sender: MaybeSender = Field(default=None, alias="from")
    locale: Locale = None
    allowed_addresses: Addresses = None
    version: MaybeWhole = None
    """The version as ``hook.show`` has it; None: the change is made whatever changed meanwhile."""


class RotateHook(OfHook):
    """Give a hook a new secret."""

    secret: MaybeText = Field(default=None, repr=False)
    """The secret that the program made; None: it is made here."""
    overlap_s: Annotated[
        int, PlainValidator(overlap), ArgumentKind(f"seconds, 0 to {OVERLAP_MAX_S}")
    ] = OVERLAP_S
    """How long the current secret still works."""


def of_hook(services: Services, arguments: OfHook) -> str:
    """The organization of a hook. Raises ``NotFound``."""
    return services.repositories.part(HookRepository).hook(arguments.hook_id).organization_id


FOUND: Final = (
    Findable(
        kind="hook",
        table="hooks",
        title="coalesce(name, preset)",
        names=("name", "preset", "last4"),
        prefix="hok",
        newest="created_at",
        mode="mode",
        note="preset",
        page="connect/{}",
    ),
)
"""What a search finds of hooks."""
OPERATIONS: Final = Operations()
_NEW: Final[dict[str, Any]] = {"roles": DEVELOPERS, "owner": owners.named, "fresh": True}
_READ: Final[dict[str, Any]] = {"roles": VIEWERS, "operators": READERS}
_ONE: Final[dict[str, Any]] = {"roles": DEVELOPERS, "owner": of_hook, "changes": Hook}


@OPERATIONS(records.CREATE, changes=Hook, **_NEW)
async def _create(call: Call[CreateHook]) -> MadeHook:
    _want_language(call)
    _want_alarm(call, call.arguments.organization_id)
    arguments, registry = call.arguments, call.part(HookRegistry)
    known = preset(arguments.preset)
    made = Hook(
        **arguments.values_of(Hook, besides=("mode", "proof")),
        id="",
        mode=Mode(arguments.mode),
        proof=arguments.proof or (known.proofs[0] if known is not None else HookProof.BEARER).value,
        last4="",
        old_until=None,
        created_at=0,
        created_by=call.caller.who,
        last_used_at=None,
        disabled_at=None,
    )
    return await registry.create(made, arguments.secret, by=call.audit(AuditImage.HOOK))


@OPERATIONS(records.LIST, owner=owners.named, **_READ)
async def _list(call: Call[OfOrganization]) -> Hooks:
    hooks = call.part(HookRegistry).of_organization(call.arguments.organization_id)
    return Hooks(tuple(hooks))


@OPERATIONS(records.SHOW, owner=of_hook, versioned_by="hook_id", **_READ)
async def _show(call: Call[OfHook]) -> AddressedHook:
    return call.part(HookRegistry).addressed(call.arguments.hook_id)


def _want_language(call: Call[CreateHook] | Call[SetHook]) -> None:
    """
    Raises:
        Invalid: there are no texts of codes in the hook's language.
    """
    language, texts = call.arguments.locale, call.services.settings.code_texts
    if language is not None and (fault := language_fault("locale", language, texts)):
        raise Invalid.of([fault])


def _want_alarm(call: Call[CreateHook] | Call[SetHook], organization_id: str) -> None:
    """
    Raises:
        Invalid: the organization has no such chain.
    """
    chain_id, work = call.arguments.alarm, duty(Duty.ALARMS)
    if chain_id is None:
        return
    try:
        if work is None:
            raise NotFound("This service raises no alarms.")
        work.want_chain(call.services, organization_id, chain_id)
    except NotFound as error:
        raise Invalid("alarm", "unknown_chain", str(error)) from None


@OPERATIONS(records.SET, versioned_by="hook_id", **_ONE)
async def _set(call: Call[SetHook]) -> Hook:
    _want_language(call)
    _want_alarm(call, of_hook(call.services, call.arguments))
    values = call.arguments.given_of(Hook)
    return await call.part(HookRegistry).change(call.arguments.hook_id, values, by=_signed(call))


@OPERATIONS(records.ROTATE, fresh=True, **_ONE)
async def _rotate(call: Call[RotateHook]) -> MadeHook:
    arguments = call.arguments
    return await call.part(HookRegistry).rotate(
        arguments.hook_id, arguments.secret, arguments.overlap_s, by=_signed(call)
    )


@OPERATIONS(records.ENABLE, operators=SUPPORT, **_ONE)
async def _enable(call: Call[OfHook]) -> Hook:
    return await _switch(call, None)


@OPERATIONS(records.DISABLE, operators=SUPPORT, **_ONE)
async def _disable(call: Call[OfHook]) -> Hook:
    return await _switch(call, call.now_ms)


async def _switch(call: Call[OfHook], disabled_at: int | None) -> Hook:
    values = {"disabled_at": disabled_at}
    return await call.part(HookRegistry).change(call.arguments.hook_id, values, by=_signed(call))


@OPERATIONS(records.DELETE, **_ONE)
async def _delete(call: Call[OfHook]) -> Hook:
    return await call.part(HookRegistry).delete(call.arguments.hook_id, by=_signed(call))


@OPERATIONS(records.PRESETS, owner=owners.named, **_READ)
async def _presets(call: Call[OfMaybeOrganization]) -> HookPresets:
    return HookPresets(
        tuple(
            HookPreset(
                name=each.name,
                title=each.title,
                kind=each.kind.value,
                proofs=tuple(proof.value for proof in each.proofs),
                sends=each.sends,
                needs_numbers=each.to == "fixed",
                secret_from=each.secret_from,
            )
            for each in presets()
            if each.name != CUSTOM
        )
    )


def _signed(call: Call[Any]) -> AuditEntry:
    return call.audit(AuditImage.HOOK, call.arguments.hook_id)
