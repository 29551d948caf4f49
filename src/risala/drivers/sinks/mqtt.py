"""Events to an MQTT broker: each published by QoS 1 and acknowledged before the next batch.

One connection stays open, with a will, so that whoever subscribes sees whether the service is
there. An event's topic is ``PREFIX/ORGANIZATION/TYPE``, such as ``risala/org_…/sms/received``; its
payload is the same JSON that webhooks carry. Home Assistant can be told of all of it
(:mod:`risala.drivers.sinks.home_assistant`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import trio

from risala.drivers.sinks.home_assistant import HomePublisher
from risala.drivers.sinks.mqtt_settings import ONLINE, MqttSettings
from risala.plugins.sink import EventSinkFactory, SinkEvent, SinkFigures, SinkUnavailableError

if TYPE_CHECKING:
    from risala.drivers.sinks.mqtt_link import MqttLink

WAIT_S: Final = 15.0
"""How long a batch waits for the connection, before it comes again later: a broker that restarts is
back within seconds, and the engine's own pauses grow to minutes."""
STATE_S: Final = 60.0
"""Between two looks at the figures that Home Assistant shows."""


class MqttSink:
    """An :class:`risala.plugins.sink.EventSink` at a broker."""

    def __init__(self, name: str, settings: MqttSettings) -> None:
        self._settings = settings
        self._client_id = f"risala-{name}"
        self._status = f"{settings.prefix}/status"
        self._link: MqttLink | None = None
        self._changed = trio.Event()
        self._fault = "It has not connected yet."

    async def take(self, events: Sequence[SinkEvent]) -> None:
        chosen = [each for each in events if self._is_chosen(each)]
        if not chosen:
            return
        link = await self._up()
        posts = [(self._topic(each), each.body.encode(), False) for each in chosen]
        if self._settings.home_assistant:
            texts = (each for each in chosen if each.type == "sms.received")
            posts += [HomePublisher.last_text(self._settings.prefix, each) for each in texts]
        await link.publish(posts)

    def _is_chosen(self, event: SinkEvent) -> bool:
        types, whose = self._settings.types, self._settings.organizations
        return (not types or event.type in types) and (not whose or event.organization_id in whose)

    def _topic(self, event: SinkEvent) -> str:
        kind = event.type.replace(".", "/")
        return f"{self._settings.prefix}/{event.organization_id}/{kind}"

    async def _up(self) -> MqttLink:
        """The open connection.

        Raises:
            SinkUnavailableError: there is none, and none came in time.
        """
        with trio.move_on_after(WAIT_S):
            while self._link is None:
                await self._changed.wait()
        if self._link is None:
            raise SinkUnavailableError(self._fault)
        return self._link

    def _is_now(self, link: MqttLink | None, fault: str = "") -> None:
        self._link, self._fault = link, fault
        self._changed.set()
        self._changed = trio.Event()

    async def run(self, figures: SinkFigures) -> None:
        """Connect, and stay connected.

        Raises:
            SinkUnavailableError: the broker cannot be reached or refuses, or the connection ended.
        """
        try:
            # Imported here: who has no such sink needs no paho-mqtt.
            from risala.drivers.sinks.mqtt_link import MqttLink

            link = MqttLink(self._settings, self._client_id, self._status)
            async with link.opened():
                self._is_now(link)
                await self._tell_home(link, figures)
        except ModuleNotFoundError:
            self._is_now(None, 'sink = "mqtt" needs the package paho-mqtt: install risala[mqtt].')
            raise SinkUnavailableError(self._fault) from None
        except SinkUnavailableError as error:
            self._is_now(None, str(error))
            raise
        finally:
            self._link = None

    async def _tell_home(self, link: MqttLink, figures: SinkFigures) -> None:
        """Say that the service is there, and what Home Assistant shows; until the connection ends.

        Raises:
            SinkUnavailableError: it has ended.
        """
        await link.publish([(self._status, ONLINE.encode(), True)])
        home = HomePublisher(self._settings.prefix, self._settings.discovery_prefix)
        while self._settings.home_assistant:
            whose = self._settings.organizations
            organizations = [
                each for each in figures.organizations() if not whose or each.id in whose
            ]
            posts = home.posts(figures.carriers(), organizations)
            await link.publish([(topic, json.dumps(body).encode(), True) for topic, body in posts])
            with trio.move_on_after(STATE_S):
                await link.wait_ended()
        await link.wait_ended()


MQTT: Final = EventSinkFactory(
    name="mqtt",
    settings=MqttSettings,
    build=MqttSink,
    summary="To an MQTT broker, and into Home Assistant",
)
