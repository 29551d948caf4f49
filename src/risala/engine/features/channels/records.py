"""Channels as organizations open them: what operations answer."""

from __future__ import annotations

from typing import Annotated, Final

from risala.config.channels import SMS
from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, N_, UNAUDITED, Hint, Label, Typed

NAME: Final = "channels"
"""The feature's name, as sessions name it."""
FALLBACK_S: Final = (10, 600)
"""The shortest and the longest wait for a delivery before the next one begins."""
FALLBACK_DEFAULT_S: Final = 30
"""Most codes that come, come within half a minute."""
CHANNELS_MAX: Final = 8
"""Channels of one session: more than that nobody waits for."""
DELIVERIES_MAX: Final = 10
"""Deliveries of one session, those asked for included."""


@dataclass(frozen=True, slots=True)
class ChannelUse:
    """The channels that an organization has opened, and when the next of them begins."""

    organization_id: Annotated[str, UNAUDITED]
    channels: Annotated[
        tuple[str, ...],
        AUDITED,
        Label(N_("Order")),
        Hint(N_("One channel a line. A request may name others of those below.")),
        Typed("sms", left_to_right=True),
    ] = (SMS,)
    """The order in which channels are tried where a request names none."""
    secret: Annotated[
        tuple[str, ...],
        AUDITED,
        Label(N_("Open to secret keys")),
        Hint(N_("One channel a line.")),
        Typed("sms", left_to_right=True),
    ] = (SMS,)
    """Channels that requests with secret keys may name."""
    publishable: Annotated[
        tuple[str, ...],
        AUDITED,
        Label(N_("Open to publishable keys")),
        Hint(N_("One channel a line. Anybody on your page can send codes by them, and you pay.")),
        Typed("sms", left_to_right=True),
    ] = (SMS,)
    """Channels that requests with publishable keys may name."""
    fallback_s: Annotated[
        int,
        AUDITED,
        Label(N_("Seconds until the next channel")),
        Hint(N_("How long a channel may take to say that it delivered the code: 10 to 600.")),
        Typed("30", left_to_right=True),
    ] = FALLBACK_DEFAULT_S
    """Seconds without word of a delivery after which the next channel begins."""
    addresses: Annotated[bool, AUDITED, Label(N_("Secret keys may send codes by e-mail"))] = False
    """Whether a secret key may send a code to an e-mail address."""


@dataclass(frozen=True, slots=True)
class OfferedChannel:
    """A channel of the service."""

    name: str
    price: str
    reaches: str
    """``number`` or ``address``."""


@dataclass(frozen=True, slots=True)
class ShownChannels:
    """The channels of an organization, and those that the service has."""

    use: Annotated[ChannelUse, AUDITED]
    offered: Annotated[tuple[OfferedChannel, ...], UNAUDITED]


CHANNELS: Final = Ask("verify.channels", ShownChannels)
