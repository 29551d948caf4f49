"""Which channels a code tries, and in what order. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from risala.config.channels import SMS, ChannelTable
from risala.engine.features.channels.records import CHANNELS_MAX, ChannelUse
from risala.engine.model.errors import Invalid
from risala.engine.model.records.keys import KeyType

PATH: Final = "channels"
"""The member of a request that names channels."""


def is_address(to: str) -> bool:
    """Whether a code is for an e-mail address, not a number."""
    return "@" in to


def opened(use: ChannelUse, key_type: KeyType) -> tuple[str, ...]:
    """The channels that an organization opened for keys of a type."""
    return use.secret if key_type is KeyType.SECRET else use.publishable


def offered(tables: Mapping[str, ChannelTable], to: str) -> list[str]:
    """The channels of the service that reach a number or an address."""
    wants_address = is_address(to)
    there = [
        name
        for name, table in tables.items()
        if table.enabled and table.for_addresses is wants_address
    ]
    return there if wants_address else [SMS, *there]


def chosen(
    use: ChannelUse,
    key_type: KeyType,
    named: Sequence[str] | None,
    there: Collection[str],
) -> tuple[str, ...]:
    """The channels of a session, in order; never empty.

    Args:
        named: by the request; None: it names none.
        there: those of the service that reach whom the code is for.

    Raises:
        Invalid: one that the request names is not open to this kind of key, or does not reach that
            person; or none is left.
    """
    allowed = [each for each in opened(use, key_type) if each in there]
    if named is not None:
        refuse_others(named, allowed)
        return tuple(dict.fromkeys(named))
    usual = [each for each in use.channels if each in allowed] or allowed
    if not usual:
        text = "No channel that is open to this kind of key reaches this recipient."
        raise Invalid("to", "no_channel", text)
    return tuple(usual)


def refuse_others(named: Sequence[str], allowed: Collection[str], member: str = PATH) -> None:
    """Refuse channels that are not open.

    Args:
        member: of the request, which names them.

    Raises:
        Invalid: it names the first of them.
    """
    if not 0 < len(named) <= CHANNELS_MAX:
        raise Invalid(PATH, "invalid_length", f"`channels` has 1 to {CHANNELS_MAX} names.")
    for each in named:
        if each not in allowed:
            there = ", ".join(allowed) or "none"
            raise Invalid(
                member,
                "not_open",
                f"The channel {each!r} is not open to this kind of key, or does not reach this"
                f" recipient. Open: {there}. `risala verify channels` or Verify > Channels opens"
                " more.",
            )


def following(channels: Sequence[str], tried: Collection[str]) -> str | None:
    """The next channel of a session; None: each was tried."""
    return next((each for each in channels if each not in tried), None)
