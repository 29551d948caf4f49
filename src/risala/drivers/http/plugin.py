"""Carriers over HTTP, by settings, as a plugin like any other; and the channel that calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from risala.drivers.http.settings import CallSettings, HttpSettings
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from risala.plugins.channel import ChannelFactory, ChannelTools, CodeChannel


def build(carrier: str, settings: HttpSettings) -> Driver:
    """Build a driver. It is imported here, so that a service without such carriers does not spend
    time and memory on it."""
    from risala.drivers.http.driver import HttpDriver

    return HttpDriver(carrier, settings)


def build_voice(channel: str, settings: CallSettings, _tools: ChannelTools) -> CodeChannel:
    """Build a channel that calls, as :func:`build`."""
    from risala.drivers.http.calls import VoiceChannel

    return VoiceChannel(channel, settings)


FACTORY = DriverFactory(
    name="http",
    settings=HttpSettings,
    build=build,
    summary="an aggregator's HTTP API, by a preset or by settings",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)


@hookimpl
def risala_register_channels(register: Callable[[ChannelFactory], None]) -> None:
    from risala.plugins.channel import ChannelFactory

    summary = "Calls by an aggregator's HTTP API: a voice says the code, digit by digit, twice"
    register(ChannelFactory("voice", CallSettings, build_voice, summary))
