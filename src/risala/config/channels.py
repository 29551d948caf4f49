"""Settings of channels: ways besides SMS by which one-time codes leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, ValidationError, model_validator

from risala.config.delivery import CarrierSection, OnUncertain
from risala.config.hooks import NamedTables, PluginTable
from risala.config.kinds import Money, Name, Network

SMS: Final = "sms"
"""The channel that is always there: messages by carriers. No other has its name."""

_REACHES: Final = {"email": "address"}
_CARRY_TEXTS: Final = frozenset({"email"})


class ChannelTable(PluginTable):
    """A way besides SMS by which one-time codes leave. Its own settings are in a table of its
    plugin's name within this one."""

    channel: Name
    """The plugin that serves it: ``email``, ``telegram``, ``whatsapp``, ``voice`` or an installed
    one."""
    price: Money
    """The price of a code, in ``service.currency``: charged when it is accepted, given back when it
    could not be sent."""
    reaches: Literal["number", "address"] | None = None
    """What the plugin sends to: phone numbers or e-mail addresses. Not set: addresses for
    ``email``, else numbers."""
    enabled: bool = True
    """False: the channel is not used, and its table stays."""
    rate_per_s: Annotated[float, Field(gt=0, le=100000)] = 10.0
    """The most codes that we send in a second."""
    path: Name | None = None
    """The word of its address, ``/carriers/PATH/…``, if its vendor calls back; unique. Not set: its
    name."""
    allowed_addresses: tuple[Network, ...] = ()
    """The only IP addresses and networks that may call it; empty: any."""

    @property
    def word(self) -> str:
        return self.channel

    @property
    def for_addresses(self) -> bool:
        """Whether it sends to e-mail addresses."""
        return (self.reaches or _REACHES.get(self.channel)) == "address"

    @property
    def carries_texts(self) -> bool:
        """Whether it brings a text that names a payment or has variables; others write their
        own."""
        return self.channel in _CARRY_TEXTS


class ChannelsSection(NamedTables):
    """Channels, a table each. Organizations open them for their keys."""

    # Pydantic wants the type of the tables here, without None, though its own base allows it.
    __pydantic_extra__: dict[Name, ChannelTable]  # type: ignore[mutable-override]

    @property
    def by_name(self) -> dict[str, ChannelTable]:
        """The table of each channel, in the order of the file."""
        return dict(self.__pydantic_extra__ or {})

    def priced_as(self, after: ChannelsSection) -> ChannelsSection:
        """Channels as they were, with the prices that they have in other settings."""
        prices = {name: table.price for name, table in after.by_name.items()}
        tables = {
            name: table.model_copy(update={"price": prices.get(name, table.price)})
            for name, table in self.by_name.items()
        }
        return ChannelsSection.model_validate(tables)

    @model_validator(mode="after")
    def _sms_is_there(self) -> ChannelsSection:
        if SMS in self.by_name:
            raise ValueError("sms is there without a table: its carriers are in [[carriers]]")
        return self


class ChannelCarrier(CarrierSection):
    """A channel, as what sends sees it: a carrier that serves no numbers, but a route of its own.

    What no answer came to fails after a while: then the next channel begins, which reaches the
    person sooner than a second try.
    """

    is_channel: ClassVar[bool] = True
    on_uncertain_code: OnUncertain = OnUncertain(action="fail", after_s=15)

    @property
    def sends(self) -> bool:
        return False


def with_channels(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raw settings, in which each channel is among the carriers too. A table with a fault is left
    out: the section itself tells the fault."""
    tables = values.get("channels")
    if isinstance(tables, ChannelsSection):
        tables = tables.by_name
    if not isinstance(tables, Mapping) or not tables:
        return values
    carriers = values.get("carriers", ())
    if not isinstance(carriers, list | tuple):
        return values
    there = [each for each in carriers if not isinstance(each, ChannelCarrier)]
    return {**values, "carriers": [*there, *_carriers_of(tables)]}


def _carriers_of(tables: Mapping[Any, Any]) -> Iterator[ChannelCarrier]:
    for name, raw in tables.items():
        try:
            table = raw if isinstance(raw, ChannelTable) else ChannelTable.model_validate(raw)
            shared = {"path": table.path, "allowed_addresses": table.allowed_addresses}
            yield ChannelCarrier.model_validate(
                {
                    "name": name,
                    "driver": table.channel,
                    "enabled": table.enabled,
                    "rate_per_s": table.rate_per_s,
                    **shared,
                    table.channel: table.settings,
                }
            )
        except ValidationError:
            continue
