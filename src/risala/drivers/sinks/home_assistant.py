"""What Home Assistant is told by MQTT discovery: a device for each carrier and organization. Pure.

Home Assistant's ``homeassistant/components/mqtt`` (``sensor.py``, ``binary_sensor.py``,
``schemas.py``): each entity has a topic ``PREFIX/COMPONENT/NODE/OBJECT/config`` with what it is and
where its state is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from risala import __version__
from risala.plugins.sink import SinkCarrier, SinkEvent, SinkOrganization

Topic = tuple[str, Mapping[str, Any]]
"""A topic, and the JSON that the broker keeps there."""
_NOT_IN_IDS: Final = re.compile(r"[^a-zA-Z0-9_-]")
_ORIGIN: Final = {"name": "Risala", "sw_version": __version__}


class HomePublisher:
    """Of one service.

    Args:
        prefix: the beginning of the service's own topics.
        discovery: the beginning of those of discovery.
    """

    def __init__(self, prefix: str, discovery: str) -> None:
        self._prefix = prefix
        self._discovery = discovery
        self._kept: dict[str, Mapping[str, Any]] = {}

    @staticmethod
    def last_text(prefix: str, event: SinkEvent) -> tuple[str, bytes, bool]:
        """When the last text came in, and nothing else of it; the broker keeps that."""
        at = datetime.fromtimestamp(event.at_ms / 1000, UTC).isoformat(timespec="seconds")
        return f"{prefix}/{event.organization_id}/last_text", at.encode(), True

    def posts(
        self, carriers: Sequence[SinkCarrier], organizations: Sequence[SinkOrganization]
    ) -> list[Topic]:
        """What is new or has changed since the last time."""
        now = dict(self._all(carriers, organizations))
        changed = [(topic, body) for topic, body in now.items() if self._kept.get(topic) != body]
        self._kept = now
        return changed

    def _all(
        self, carriers: Sequence[SinkCarrier], organizations: Sequence[SinkOrganization]
    ) -> Iterator[Topic]:
        for carrier in carriers:
            yield from self._carrier(carrier)
        for organization in organizations:
            yield from self._organization(organization)

    def _carrier(self, carrier: SinkCarrier) -> Iterator[Topic]:
        state = f"{self._prefix}/carriers/{_NOT_IN_IDS.sub('_', carrier.name)}"
        device = self._device(f"carrier_{carrier.name}", f"Carrier {carrier.name}", "Carrier")
        yield self._entity(
            "binary_sensor",
            device,
            "connected",
            {
                "name": "Connected",
                "device_class": "connectivity",
                "state_topic": state,
                "value_template": "{{ 'OFF' if value_json.state == 'down' else 'ON' }}",
            },
        )
        if carrier.signal_dbm is not None:
            yield self._entity(
                "sensor",
                device,
                "signal",
                {
                    "name": "Signal",
                    "device_class": "signal_strength",
                    "unit_of_measurement": "dBm",
                    "state_class": "measurement",
                    "state_topic": state,
                    "value_template": "{{ value_json.signal_dbm }}",
                },
            )
        yield state, {"state": carrier.state, "signal_dbm": carrier.signal_dbm}

    def _organization(self, organization: SinkOrganization) -> Iterator[Topic]:
        own = f"{self._prefix}/{organization.id}"
        device = self._device(organization.id, f"SMS of {organization.name}", "Organization")
        for name, title in (
            ("delivered_today", "Delivered today"),
            ("failed_today", "Failed today"),
        ):
            yield self._entity(
                "sensor",
                device,
                name,
                {
                    "name": title,
                    "state_class": "total_increasing",
                    "state_topic": f"{own}/today",
                    "value_template": f"{{{{ value_json.{name} }}}}",
                },
            )
        yield self._entity(
            "sensor",
            device,
            "last_text",
            {"name": "Last text", "device_class": "timestamp", "state_topic": f"{own}/last_text"},
        )
        counts = organization.delivered_today, organization.failed_today
        yield f"{own}/today", dict(zip(("delivered_today", "failed_today"), counts, strict=True))

    def _device(self, own_id: str, name: str, model: str) -> Mapping[str, Any]:
        identifier = _NOT_IN_IDS.sub("_", f"{self._prefix}_{own_id}")
        return {
            "identifiers": [identifier],
            "name": name,
            "manufacturer": "Risala",
            "model": model,
            "sw_version": __version__,
        }

    def _entity(
        self, component: str, device: Mapping[str, Any], name: str, more: Mapping[str, Any]
    ) -> Topic:
        node = device["identifiers"][0]
        body = {
            **more,
            "unique_id": f"{node}_{name}",
            "availability_topic": f"{self._prefix}/status",
            "device": device,
            "origin": _ORIGIN,
        }
        return f"{self._discovery}/{component}/{node}/{name}/config", body
