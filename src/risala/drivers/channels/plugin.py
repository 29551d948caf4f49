"""The channels that are built in. Each is imported when the configuration names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from risala.drivers.channels.settings import EmailSettings, TelegramSettings, WhatsAppSettings
from risala.plugins.channel import ChannelFactory, ChannelTools, CodeChannel
from risala.plugins.hookspecs import hookimpl


def _email(_: str, settings: Any, tools: ChannelTools) -> CodeChannel:  # noqa: ANN401 -- as a factory
    from risala.drivers.channels.mail import EmailChannel

    return EmailChannel(settings, tools)


def _telegram(_: str, settings: Any, _tools: ChannelTools) -> CodeChannel:  # noqa: ANN401 -- as above
    from risala.drivers.channels.telegram import TelegramChannel

    return TelegramChannel(settings)


def _whatsapp(_: str, settings: Any, _tools: ChannelTools) -> CodeChannel:  # noqa: ANN401 -- as above
    from risala.drivers.channels.whatsapp import WhatsAppChannel

    return WhatsAppChannel(settings)


EMAIL = ChannelFactory(
    name="email",
    settings=EmailSettings,
    build=_email,
    summary="E-mail by the server of [mail]; it tells no delivery",
)
TELEGRAM = ChannelFactory(
    name="telegram",
    settings=TelegramSettings,
    build=_telegram,
    summary="Telegram's Gateway, with its word on each delivery",
)
WHATSAPP = ChannelFactory(
    name="whatsapp",
    settings=WhatsAppSettings,
    build=_whatsapp,
    summary="WhatsApp's Cloud API, by an authentication template",
)


@hookimpl
def risala_register_channels(register: Callable[[ChannelFactory], None]) -> None:
    register(EMAIL)
    register(TELEGRAM)
    register(WHATSAPP)
