"""Organizations' identity providers: owners register them, operators confirm their domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.features.providers.records import (
    CONFIRM,
    DELETE,
    LABEL_MAX,
    LIST,
    LIST_MAX,
    REFUSE,
    SECRET_MAX,
    SESSION_HOURS_MAX,
    SET,
    SHOW,
    TEXT_MAX,
    IdentityProvider,
    IdentityProviders,
    ProviderState,
)
from risala.engine.features.providers.service import Providers
from risala.engine.features.providers.stored.repository import ProviderRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    MaybeFlag,
    MaybeWhole,
    NoArguments,
    OfOrganization,
    Text,
    any_text,
    fault,
    maybe,
    name_text,
    texts,
    whole,
    words,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.callers import Role
from risala.engine.model.errors import Invalid
from risala.engine.operations.account import MEMBER_ROLES
from risala.engine.rules.people.emails import letters_by_script
from risala.engine.rules.roles import OPERATORS, OWNERS, SUPPORT

NOBODY: Final = "none"
"""The word for a default role that refuses."""


def _words(characters_max: int) -> Callable[[object], str]:
    """Text that may be empty."""
    parse = words(characters_max)
    return lambda value: parse(value) if any_text(value).strip() else ""


def _values(value: object) -> tuple[str, ...]:
    values = tuple(dict.fromkeys(each.strip() for each in texts(value) if each.strip()))
    if len(values) > LIST_MAX or any(len(each) > TEXT_MAX for each in values):
        sentence = f"`{{name}}` can have at most {LIST_MAX} values of {TEXT_MAX} characters."
        raise fault("too_many_values", sentence)
    return values


def _default_role(value: object) -> str:
    if value not in (NOBODY, *MEMBER_ROLES):
        raise fault("invalid_role", "`{name}` is `owner`, `developer`, `viewer` or `none`.")
    return str(value)


def _hours(value: object) -> int:
    hours = whole(value)
    if not 1 <= hours <= SESSION_HOURS_MAX:
        raise fault("invalid_hours", f"`{{name}}` must be 1 to {SESSION_HOURS_MAX}.")
    return hours


_TEXT: Final = ArgumentKind(f"text, at most {TEXT_MAX} characters")
Name = Annotated[str | None, PlainValidator(maybe(words(TEXT_MAX))), _TEXT]
Values = Annotated[
    tuple[str, ...] | None,
    PlainValidator(maybe(_values)),
    ArgumentKind(f"list of at most {LIST_MAX} texts"),
]


class SetProvider(OfOrganization):
    """Register the identity provider of an organization, or change it; what is not given stays.
    The first time `issuer`, `clientId` and `domains` are needed."""

    issuer: Name = None
    client_id: Name = None
    client_secret: Annotated[
        str | None,
        PlainValidator(maybe(_words(SECRET_MAX))),
        ArgumentKind(f"text, at most {SECRET_MAX} characters; empty: a public client"),
    ] = Field(default=None, repr=False)
    label: Annotated[
        str | None,
        PlainValidator(maybe(name_text(LABEL_MAX, may_be_empty=True))),
        ArgumentKind(f"text, at most {LABEL_MAX} characters"),
    ] = None
    """The name on its button; empty: the organization's name."""
    domains: Values = None
    """The domains of e-mail addresses that it answers for; each works once it is confirmed."""
    role_claim: Name = None
    owners: Values = None
    """Values of the claim that make an owner."""
    developers: Values = None
    viewers: Values = None
    default_role: Annotated[
        str | None,
        PlainValidator(maybe(_default_role)),
        ArgumentKind("`owner`, `developer`, `viewer`, or `none`: they are refused"),
    ] = None
    """The role of a person who has none of the values."""
    verified_claim: Name = None
    """The claim that says that the address is verified."""
    two_factors: Values = None
    """Values of `amr` or `acr` that mean two factors."""
    required: MaybeFlag = None
    """Members enter the organization by it alone; an owner with a second factor can still sign in
    by a code."""
    session_hours: Annotated[
        int | None,
        PlainValidator(maybe(_hours)),
        ArgumentKind(f"whole number, 1 to {SESSION_HOURS_MAX}"),
    ] = None
    """How long a session by it lasts."""
    version: MaybeWhole = None


class OfDomain(OfOrganization):
    """Names a domain that an organization asked for."""

    domain: Text


class ConfirmDomain(OfDomain):
    """Names a domain that an organization asked for, and that an operator has looked at."""

    mixed_scripts: MaybeFlag = None
    """True: the operator has seen that its letters are of several scripts."""


OPERATIONS: Final = Operations()
_ONE: Final[dict[str, Any]] = {"owner": owners.named, "changes": IdentityProvider, "fresh": True}


def _actor(call: Call[Any]) -> str | None:
    """The owner who asks; None: the operator, who need not be a member."""
    return (call.caller.user_id or "") if call.caller.is_member else None


def _signed(call: Call[Any]) -> AuditEntry:
    organization_id = call.arguments.organization_id
    return call.audit(
        AuditImage.IDENTITY_PROVIDER, organization_id, organization_id=organization_id
    )


@OPERATIONS(
    SHOW, roles=OWNERS, operators=SUPPORT, owner=owners.named, versioned_by="organization_id"
)
async def _show(call: Call[OfOrganization]) -> ProviderState:
    return call.part(Providers).state(call.arguments.organization_id)


@OPERATIONS(SET, roles=OWNERS, versioned_by="organization_id", **_ONE)
async def _set(call: Call[SetProvider]) -> IdentityProvider:
    arguments = call.arguments
    values = {
        name: value
        for name, value in arguments.given_of(IdentityProvider).items()
        if value is not None and name != "organization_id"
    }
    if arguments.default_role is not None:
        values["default_role"] = (
            None if arguments.default_role == NOBODY else Role(arguments.default_role)
        )
    put = call.part(Providers).put
    return await put(
        arguments.organization_id, values, arguments.client_secret, _actor(call), _signed(call)
    )


@OPERATIONS(DELETE, roles=OWNERS, **_ONE)
async def _delete(call: Call[OfOrganization]) -> IdentityProvider:
    delete = call.part(Providers).delete
    return await delete(call.arguments.organization_id, _actor(call), _signed(call))


@OPERATIONS(LIST, roles=OPERATORS, operators=SUPPORT)
async def _list(call: Call[NoArguments]) -> IdentityProviders:
    return IdentityProviders(tuple(call.stored(ProviderRepository).all_of_them()))


@OPERATIONS(CONFIRM, roles=OPERATORS, **_ONE)
async def _confirm(call: Call[ConfirmDomain]) -> IdentityProvider:
    """An operator says that a domain is the organization's; one whose letters are of several
    scripts only after a warning that shows them."""
    arguments = call.arguments
    mixed = letters_by_script(arguments.domain)
    if mixed and not arguments.mixed_scripts:
        shown = ", ".join(f"{script}: \u2068{letters}\u2069" for script, letters in mixed.items())
        text = (
            f"The letters of this domain are of several scripts, as in a name that imitates"
            f" another ({shown}). Ask the organization, then confirm it with `mixedScripts`."
        )
        raise Invalid("domain", "mixed_scripts", text)
    confirm = call.part(Providers).confirm
    return await confirm(arguments.organization_id, arguments.domain, _signed(call))


@OPERATIONS(REFUSE, roles=OPERATORS, **_ONE)
async def _refuse(call: Call[OfDomain]) -> IdentityProvider:
    arguments = call.arguments
    refuse = call.part(Providers).refuse
    return await refuse(arguments.organization_id, arguments.domain, _signed(call))
