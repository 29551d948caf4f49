"""What people do with channels: open them for an organization's keys, and say in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.config.channels import SMS
from risala.engine.features.channels.records import (
    CHANNELS,
    CHANNELS_MAX,
    FALLBACK_S,
    NAME,
    ChannelUse,
    OfferedChannel,
    ShownChannels,
)
from risala.engine.features.channels.sessions import ChannelSessions
from risala.engine.features.channels.stored import ChannelRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    MaybeFlag,
    OfOrganization,
    any_text,
    fault,
    maybe,
    whole,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Invalid
from risala.engine.model.money import minor_units, money
from risala.engine.rules.roles import DEVELOPERS, READERS, VIEWERS
from risala.engine.services import Services

OPERATIONS: Final = Operations()


def _names(value: object) -> tuple[str, ...]:
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list | tuple):
        raise fault("invalid_type", "`{name}` must be a list of channels.")
    names = tuple(dict.fromkeys(filter(None, (any_text(each).strip() for each in listed))))
    if not 0 < len(names) <= CHANNELS_MAX:
        raise fault("invalid_length", f"`{{name}}` has 1 to {CHANNELS_MAX} channels.")
    return names


def _seconds(value: object) -> int:
    seconds = whole(value)
    if not FALLBACK_S[0] <= seconds <= FALLBACK_S[1]:
        text = f"`{{name}}` must be from {FALLBACK_S[0]} to {FALLBACK_S[1]} seconds."
        raise fault("out_of_range", text)
    return seconds


MaybeChannels = Annotated[
    tuple[str, ...] | None,
    PlainValidator(maybe(_names)),
    ArgumentKind(f"1 to {CHANNELS_MAX} names of channels, in order"),
]


class OpenChannels(OfOrganization):
    """Show an organization's channels, after changing what is given."""

    channels: MaybeChannels = None
    """The order in which they are tried where a request names none."""
    secret: MaybeChannels = None
    """Channels that requests with secret keys may name."""
    publishable: MaybeChannels = None
    """Channels that requests with publishable keys may name."""
    fallback_s: Annotated[
        int | None,
        PlainValidator(maybe(_seconds)),
        ArgumentKind(f"seconds, from {FALLBACK_S[0]} to {FALLBACK_S[1]}"),
    ] = None
    """Without word of a delivery after so long, the next channel begins."""
    addresses: MaybeFlag = None
    """Whether secret keys may send codes to e-mail addresses."""


_CHANGES: Final = ("channels", "secret", "publishable", "fallback_s", "addresses")


@OPERATIONS(
    CHANNELS,
    roles=VIEWERS,
    operators=READERS,
    reserved=dict.fromkeys(_CHANGES, DEVELOPERS),
    owner=owners.named,
    changes=ShownChannels,
)
async def _open(call: Call[OpenChannels]) -> ShownChannels:
    arguments = call.arguments
    organization_id = arguments.organization_id
    call.services.accounts.organization(organization_id)
    stored = call.stored(ChannelRepository)
    use = stored.use_of(organization_id)
    named = {name: getattr(arguments, name) for name in _CHANGES}
    changed = {name: value for name, value in named.items() if value is not None}
    if changed:
        use = _checked(call.services, replace(use, **changed))
        by = call.audit(organization_id=organization_id, details=_details(changed))
        await stored.put_use(by, use)
    return ShownChannels(use, tuple(_offered(call.services)))


def _details(changed: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: ", ".join(value) if isinstance(value, tuple) else value
        for name, value in changed.items()
    }


def _offered(services: Services) -> list[OfferedChannel]:
    part = services.session_features.part(NAME)
    assert isinstance(part, ChannelSessions)
    tables = part.tables
    per_segment = money(services.intake.per_segment)
    return [
        OfferedChannel(SMS, per_segment, "number"),
        *(
            OfferedChannel(
                name,
                money(minor_units(table.price)),
                "address" if table.for_addresses else "number",
            )
            for name, table in tables.items()
            if table.enabled
        ),
    ]


def _checked(services: Services, use: ChannelUse) -> ChannelUse:
    """Channels that the service has, and an order of those that are open.

    Raises:
        Invalid: one is unknown, or is not open to any key.
    """
    there = {each.name for each in _offered(services)}
    for member in ("secret", "publishable", "channels"):
        for name in getattr(use, member):
            if name not in there:
                known = ", ".join(sorted(there))
                text = f"The service has no channel {name!r}. It has: {known}."
                raise Invalid(member, "unknown_channel", text)
    for name in use.channels:
        if name not in (*use.secret, *use.publishable):
            text = f"{name!r} is open to no key: open it first, or leave it out of the order."
            raise Invalid("channels", "not_open", text)
    return use
