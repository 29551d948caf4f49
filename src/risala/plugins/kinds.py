"""The kinds of things that a plugin may bring: one row each.

A further kind is a contract with a factory, a hook in :mod:`risala.plugins.hookspecs`, and a row
here. How it is loaded, named, listed and built from its table follows from the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from risala.config.channels import ChannelTable
from risala.config.hooks import PolicyTable, SinkTable
from risala.config.model import CarrierSection
from risala.plugins.channel import ChannelFactory, CodeChannel
from risala.plugins.command import BUILT_IN, CommandFactory
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.face import FaceFactory, GatewayFace
from risala.plugins.mail import Mailer, MailerFactory
from risala.plugins.page import ConsolePage, ConsolePageFactory
from risala.plugins.payment import PaymentMethod, PaymentMethodFactory, PaymentOffer
from risala.plugins.policy import MessagePolicy, MessagePolicyFactory
from risala.plugins.sink import EventSink, EventSinkFactory


class AnyFactory(Protocol):
    """What every factory has, whatever it makes."""

    @property
    def name(self) -> str:
        """The word that the configuration names it by."""

    @property
    def summary(self) -> str:
        """One line for ``risala plugins``."""


def no_fault(_built: object) -> str:
    """Nothing is wrong with what was built."""
    return ""


Factory = TypeVar("Factory", bound=AnyFactory)


@dataclass(frozen=True, slots=True)
class PluginKind(Generic[Factory]):
    """One kind of thing."""

    name: str
    """In sentences, in the singular: ``payment method``."""
    key: str
    """In JSON, in the plural: ``payment_methods``."""
    hook: str
    """The function of :mod:`risala.plugins.hookspecs` that registers them."""
    factory: type[Factory]
    """What is registered."""
    built: type[Any]
    """The shape of what the factory builds: a protocol that can be asked for at run time."""
    table: str
    """The table of the configuration, or the list of tables, that names them; empty: they need no
    configuration."""
    settings_of: str
    """The owner of the settings, for sentences on faults in them: ``settings of the carrier``."""
    reserved: frozenset[str] = frozenset()
    """Names that none of them may have."""
    old_hook: str = ""
    """The hook's former name, which works too; empty: it had none."""
    wrong: Callable[[Any], str] = no_fault
    """A check of a built thing beyond its shape. Returns the fault, to be read after the plugin's
    name; empty: no fault."""


def _wrong_offer(method: PaymentMethod) -> str:
    offer: object = method.offer
    if not isinstance(offer, PaymentOffer):
        return f"offers a {type(offer).__name__} instead of a PaymentOffer"
    if not all("en" in texts for texts in (offer.title, *(one.label for one in offer.asks_first))):
        return "offers a text without its English"
    top = offer.amount_max
    if offer.amount_min < 1 or (top is not None and top < offer.amount_min):
        return "offers amounts that nobody can pay"
    return ""


DRIVERS: Final = PluginKind(
    name="driver",
    key="drivers",
    hook="risala_register_drivers",
    factory=DriverFactory,
    built=Driver,
    table="carriers",
    settings_of="settings of the carrier",
    # A driver's name is also the key of its table within [[carriers]].
    reserved=frozenset(CarrierSection.model_fields),
)
CHANNELS: Final = PluginKind(
    name="channel",
    key="channels",
    hook="risala_register_channels",
    factory=ChannelFactory,
    built=CodeChannel,
    table="channels",
    settings_of="settings of the channel",
    # Its name is also the key of its table within what sends by it, which is a carrier.
    reserved=frozenset((*ChannelTable.model_fields, *CarrierSection.model_fields)),
)
MAILERS: Final = PluginKind(
    name="mailer",
    key="mailers",
    hook="risala_register_mailers",
    factory=MailerFactory,
    built=Mailer,
    table="mail",
    settings_of="settings of mail",
)
PAYMENT_METHODS: Final = PluginKind(
    name="payment method",
    key="payment_methods",
    hook="risala_register_payment_methods",
    factory=PaymentMethodFactory,
    built=PaymentMethod,
    table="payments",
    settings_of="settings of the payment method",
    wrong=_wrong_offer,
)
EVENT_SINKS: Final = PluginKind(
    name="event sink",
    key="event_sinks",
    hook="risala_register_event_sinks",
    factory=EventSinkFactory,
    built=EventSink,
    table="sinks",
    settings_of="settings of the event sink",
    reserved=frozenset(SinkTable.model_fields),
)
MESSAGE_POLICIES: Final = PluginKind(
    name="message policy",
    key="message_policies",
    hook="risala_register_message_policies",
    factory=MessagePolicyFactory,
    built=MessagePolicy,
    table="policies",
    settings_of="settings of the message policy",
    reserved=frozenset(PolicyTable.model_fields),
)
COMMANDS: Final = PluginKind(
    name="command",
    key="commands",
    hook="risala_register_commands",
    factory=CommandFactory,
    built=object,
    table="",
    settings_of="",
    reserved=BUILT_IN,
)

FACES: Final = PluginKind(
    name="face",
    key="faces",
    hook="risala_register_compat",
    old_hook="risala_register_faces",
    factory=FaceFactory,
    built=GatewayFace,
    table="compat",
    settings_of="settings of the face",
    reserved=frozenset(("smpp", "enabled")),  # SMPP is spoken by a server of its own
)

CONSOLE_PAGES: Final = PluginKind(
    name="console page",
    key="console_pages",
    hook="risala_register_console_pages",
    factory=ConsolePageFactory,
    built=ConsolePage,
    table="",
    settings_of="",
)

KINDS: Final[tuple[PluginKind[Any], ...]] = (
    DRIVERS,
    CHANNELS,
    MAILERS,
    PAYMENT_METHODS,
    EVENT_SINKS,
    MESSAGE_POLICIES,
    FACES,
    COMMANDS,
    CONSOLE_PAGES,
)
"""All kinds, in the order in which they are listed."""
