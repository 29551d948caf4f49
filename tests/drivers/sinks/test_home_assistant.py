"""What Home Assistant is told: by the rules of its own schemas, which the module's text names.

The payloads were also given to the schemas themselves (Home Assistant 2025.4.4,
``mqtt/sensor.py`` and ``mqtt/binary_sensor.py``: ``DISCOVERY_SCHEMA``) on 2026-11-30.
"""

from __future__ import annotations

import json
import re

import pytest

from risala.drivers.sinks.home_assistant import HomePublisher
from risala.plugins.sink import SinkCarrier, SinkEvent, SinkOrganization

CARRIERS = [SinkCarrier("mattel", "up", -71.0), SinkCarrier("smsc 2", "down", None)]
ORGANIZATIONS = [SinkOrganization("org_1", "متجر", 7, 1)]
# homeassistant/components/mqtt/discovery.py: TOPIC_MATCHER
_TOPIC = re.compile(
    r"(?P<component>\w+)/(?:(?P<node_id>[a-zA-Z0-9_-]+)/)?(?P<object_id>[a-zA-Z0-9_-]+)/config"
)
# mqtt/schemas.py: MQTT_ENTITY_DEVICE_INFO_SCHEMA, MQTT_ORIGIN_INFO_SCHEMA
DEVICE = {"identifiers", "name", "manufacturer", "model", "sw_version"}
ORIGIN = {"name", "sw_version"}
COMMON = {"name", "unique_id", "state_topic", "availability_topic", "device", "origin"}
BY_COMPONENT = {
    "binary_sensor": {"device_class", "value_template"},
    "sensor": {"device_class", "value_template", "unit_of_measurement", "state_class"},
}
# sensor/const.py and binary_sensor/__init__.py: classes, and what a class needs
CLASSES = {"binary_sensor": {"connectivity"}, "sensor": {"signal_strength", "timestamp"}}
UNITS = {"signal_strength": {"dB", "dBm"}}
STATES = {"measurement", "total", "total_increasing"}


@pytest.fixture
def told():
    return dict(HomePublisher("risala", "homeassistant").posts(CARRIERS, ORGANIZATIONS))


def configs(told):
    for topic, body in told.items():
        if topic.startswith("homeassistant/"):
            match = _TOPIC.fullmatch(topic.removeprefix("homeassistant/"))
            assert match is not None, topic
            yield match["component"], body


def test_each_entity_has_what_its_platform_takes_and_no_more(told):
    found = list(configs(told))
    assert len(found) == 6
    for component, body in found:
        assert COMMON <= {*body} <= COMMON | BY_COMPONENT[component]
        assert {*body["device"]} == DEVICE
        assert {*body["origin"]} == ORIGIN
        assert body.get("device_class") in {None, *CLASSES[component]}
        assert body.get("state_class") in {None, *STATES}
        # Home Assistant refuses a state class beside a timestamp, and a class in a wrong unit.
        if body.get("device_class") == "timestamp":
            assert not {"state_class", "unit_of_measurement"} & {*body}
        if units := UNITS.get(body.get("device_class")):
            assert body["unit_of_measurement"] in units
    assert len({body["unique_id"] for _, body in found}) == len(found)


def test_each_state_is_where_its_entity_looks(told):
    topics = {body["state_topic"] for _, body in configs(told)}
    assert topics - {*told} == {"risala/org_1/last_text"}
    assert told["risala/carriers/mattel"] == {"state": "up", "signal_dbm": -71.0}
    assert told["risala/org_1/today"] == {"delivered_today": 7, "failed_today": 1}


def test_a_carrier_without_a_signal_has_no_sensor_of_it(told):
    assert "homeassistant/sensor/risala_carrier_mattel/signal/config" in told
    assert "homeassistant/sensor/risala_carrier_smsc_2/signal/config" not in told


def test_only_what_changed_is_told_again():
    home = HomePublisher("risala", "homeassistant")
    assert home.posts(CARRIERS, ORGANIZATIONS)
    assert home.posts(CARRIERS, ORGANIZATIONS) == []
    down = [SinkCarrier("mattel", "down", -71.0), CARRIERS[1]]
    assert home.posts(down, ORGANIZATIONS) == [
        ("risala/carriers/mattel", {"state": "down", "signal_dbm": -71.0})
    ]


def test_the_last_text_reveals_neither_words_nor_number():
    body = json.dumps({"from": "+22236123456", "text": "hello"})
    event = SinkEvent(7, "evt_1", "sms.received", 1_795_176_000_000, "org_1", False, body)
    topic, payload, is_kept = HomePublisher.last_text("risala", event)
    assert (topic, is_kept) == ("risala/org_1/last_text", True)
    assert payload == b"2026-11-20T12:00:00+00:00"
