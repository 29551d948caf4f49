"""The MQTT sink against a real Mosquitto: what arrives, and what happens where the broker goes,
refuses, or is none."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trio
from pydantic import SecretStr, ValidationError

from mosquitto import PASSWORD, USER, Mosquitto, mosquitto, subscribed
from patience import HANG_S, until_true
from risala.drivers.sinks import mqtt
from risala.drivers.sinks.mqtt import MqttSink
from risala.drivers.sinks.mqtt_link import MqttLink
from risala.drivers.sinks.mqtt_settings import MqttSettings
from risala.plugins.sink import (
    SinkCarrier,
    SinkEvent,
    SinkOrganization,
    SinkUnavailableError,
)
from risala.plugins.testing.sinks import SinkConformance, event

pytestmark = pytest.mark.slow

OPEN = {"tls": False, "types": ()}
TLS = Path(__file__).parents[1] / "smpp/tls"


class Figures:
    """A service with one carrier and one organization."""

    def __init__(self) -> None:
        self.state = "up"

    def carriers(self) -> list[SinkCarrier]:
        return [SinkCarrier("mattel", self.state, -71.0)]

    def organizations(self) -> list[SinkOrganization]:
        return [SinkOrganization("org_1", "Shop", 7, 1)]


def came_in(text="Salam", **changes) -> SinkEvent:
    made = event(text)
    body = json.dumps({"from": "+22236123456", "text": text}, ensure_ascii=False)
    given = {"type": "sms.received", "organization_id": "org_1", "body": body, **changes}
    names = ("seq", "id", "type", "at_ms", "organization_id", "is_test", "body")
    return SinkEvent(**{name: given.get(name, getattr(made, name)) for name in names})


async def again_and_again(sink: MqttSink) -> None:
    while True:
        with suppress(SinkUnavailableError):
            await sink.run(Figures())
        await trio.sleep(0.2)


@asynccontextmanager
async def running(broker: Mosquitto | int, **settings) -> AsyncIterator[MqttSink]:
    """A sink that runs, and is stopped as the engine stops it."""
    port = broker if isinstance(broker, int) else broker.port
    given = {"host": "127.0.0.1", "port": port, **OPEN, **settings}
    sink = MqttSink("house", MqttSettings(**given))
    with trio.fail_after(3 * HANG_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(again_and_again, sink)
            yield sink
            nursery.cancel_scope.cancel()


@pytest.fixture
def broker(tmp_path):
    with mosquitto(tmp_path) as started:
        yield started


async def refusal(sink: MqttSink, monkeypatch) -> str:
    """Why a batch is not taken."""
    monkeypatch.setattr(mqtt, "WAIT_S", 1.0)
    while True:
        with pytest.raises(SinkUnavailableError) as refused:
            await sink.take([came_in()])
        if "not connected yet" not in str(refused.value):  # the thread of the connect may be slow
            return str(refused.value)


class TestMqtt(SinkConformance):
    """The suite that authors of plugins have."""

    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S

    @pytest.fixture(autouse=True)
    def _at_a_broker(self, broker: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(mqtt, "WAIT_S", 2.0)
        self.broker = broker
        # Not within the suite's run: who waits for it would block the loop.
        with subscribed(broker) as self.reader:
            yield

    @asynccontextmanager
    async def open_sink(self) -> AsyncIterator[MqttSink]:
        if not self.broker.is_running:  # the suite repeats what was slow
            await trio.to_thread.run_sync(self.broker.start)
        self.reader.messages.clear()
        yield MqttSink("events", MqttSettings(host="127.0.0.1", port=self.broker.port, **OPEN))

    async def other_side_got(self) -> list[str]:
        # Acknowledged by the broker is not yet with who subscribes.
        seen = -1
        while seen != len(self.reader.messages):
            seen = len(self.reader.messages)
            await trio.sleep(0.2)
        return self.reader.bodies("/message/received")

    async def break_other_side(self) -> None:
        self.broker.stop()

    async def mute_other_side(self) -> None:
        self.broker.freeze()


async def test_an_event_has_the_topic_of_its_organization_and_type(broker):
    with subscribed(broker) as reader:
        async with running(broker) as sink:
            one, other = came_in("أهلا"), came_in(type="sms.sent", organization_id="org_2")
            await sink.take([one, other])
            await until_true(lambda: len(reader.bodies("/sms/sent")) == 1)
    assert ("risala/org_1/sms/received", one.body, False) in reader.messages
    assert ("risala/org_2/sms/sent", other.body, False) in reader.messages


async def test_only_what_is_chosen_leaves(broker):
    chosen = {"types": ("sms.received",), "organizations": ("org_1",), "prefix": "home/sms"}
    with subscribed(broker) as reader:
        async with running(broker, **chosen) as sink:
            await sink.take([came_in(type="sms.sent"), came_in(organization_id="org_2")])
            await sink.take([came_in()])
            await until_true(lambda: reader.bodies("/received"))
    assert {each for each in reader.last() if "org_" in each} == {"home/sms/org_1/sms/received"}


async def test_the_will_says_that_the_service_is_gone(broker):
    with subscribed(broker) as reader:
        async with running(broker) as sink:
            await sink.take([came_in()])
            await until_true(lambda: reader.bodies("risala/status") == ["online"])
        await until_true(lambda: reader.bodies("risala/status") == ["online", "offline"])


async def test_home_assistant_is_told_what_there_is(broker):
    with subscribed(broker) as reader:
        async with running(broker, home_assistant=True) as sink:
            await sink.take([came_in("secret words")])
            await until_true(lambda: "risala/org_1/last_text" in reader.last())
            await until_true(lambda: "risala/org_1/today" in reader.last())
    told = reader.last()
    config = json.loads(told["homeassistant/sensor/risala_org_1/delivered_today/config"])
    assert json.loads(told[config["state_topic"]]) == {"delivered_today": 7, "failed_today": 1}
    with subscribed(broker) as later:
        await until_true(lambda: "risala/status" in later.last())
        assert all(is_kept for _, _, is_kept in later.messages)
        assert "secret words" not in str(later.messages)
        assert "+222" not in str(later.messages)


async def test_a_broker_that_was_restarted_gets_all_events(broker):
    """What was not acknowledged comes again; the connection is made anew by itself."""
    async with running(broker) as sink:
        with subscribed(broker) as reader:
            await sink.take([came_in("before")])
            await until_true(lambda: len(reader.bodies("/received")) == 1)
        broker.stop()
        broker.start()
        with subscribed(broker) as reader:
            events = [came_in(f"after {number}") for number in range(300)]
            while True:
                try:
                    await sink.take(events)
                    break
                except SinkUnavailableError:
                    continue
            await until_true(lambda: {*reader.bodies("/received")} >= {e.body for e in events})


async def test_a_wrong_password_is_told_and_not_the_password(tmp_path, monkeypatch):
    with mosquitto(tmp_path, password=True) as broker:
        async with running(broker, user=USER, password=SecretStr("wr0ng")) as sink:
            said = await refusal(sink, monkeypatch)
            assert "refuses the connection" in said
            assert "password" in said
            assert "wr0ng" not in said + repr(sink._settings)
        with subscribed(broker, login=True) as reader:
            async with running(broker, user=USER, password=SecretStr(PASSWORD)) as sink:
                await sink.take([came_in()])
                await until_true(lambda: reader.bodies("/received"))


async def test_tls_to_a_certificate_that_is_trusted(tmp_path):
    with over_tls(tmp_path) as broker:
        async with running(broker, host="localhost", tls=True, tls_ca_file=TLS / "ca.pem") as sink:
            await sink.take([came_in() for _ in range(50)])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tls": True, "host": "localhost"}, "not trusted"),
        ({"tls": True, "host": "localhost", "tls_ca_file": Path("nowhere.pem")}, "cannot be read"),
        ({"tls": False}, "did not answer|closed the connection|broke"),
    ],
)
async def test_tls_that_does_not_fit(tmp_path, monkeypatch, settings, words):
    with over_tls(tmp_path) as broker:
        async with running(broker, **settings) as sink:
            said = await refusal(sink, monkeypatch)
            assert any(each in said for each in words.split("|")), said


async def test_tls_to_a_broker_without_it(broker, monkeypatch):
    async with running(broker, tls=True, host="localhost") as sink:
        assert "TLS port" in await refusal(sink, monkeypatch)


async def test_a_connection_that_nobody_waits_for_is_closed(monkeypatch):
    link = MqttLink(MqttSettings(host="127.0.0.1", **OPEN), "house", "status")
    begun, may_end, opened = threading.Event(), threading.Event(), []

    def connect(*_):
        begun.set()
        may_end.wait(HANG_S)
        opened.append(socket.socket())

    monkeypatch.setattr(link._client, "connect", connect)
    monkeypatch.setattr(link._client, "socket", lambda: opened[0] if opened else None)

    async def open_it():
        async with link.opened():
            pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(open_it)
        await until_true(begun.is_set)
        nursery.cancel_scope.cancel()
    may_end.set()
    await until_true(lambda: opened and opened[0].fileno() == -1)


async def test_no_broker_at_all(tmp_path, monkeypatch):
    from benchmarks.processes import free_port

    async with running(free_port()) as sink:
        assert "cannot be reached: Connection refused" in await refusal(sink, monkeypatch)


@pytest.mark.parametrize("wrong", [{"prefix": "a/#"}, {"prefix": ""}, {"port": 0}, {"hots": "x"}])
def test_settings_that_are_refused(wrong):
    with pytest.raises(ValidationError):
        MqttSettings(**{"host": "broker", **wrong})


def over_tls(folder: Path):
    """A broker with the certificate of localhost."""
    return mosquitto(folder, certificate=TLS / "server.pem")
