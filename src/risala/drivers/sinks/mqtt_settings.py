"""Settings of the event sink at an MQTT broker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, SecretStr

TLS_PORT: Final = 8883
PLAIN_PORT: Final = 1883
ONLINE, OFFLINE = "online", "offline"


class MqttSettings(BaseModel):
    """``[sinks.NAME.mqtt]``."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True
    )

    host: Annotated[str, Field(min_length=1, max_length=253)]
    """The broker."""
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """Its port; none: 8883 with TLS, 1883 without."""
    tls: bool = True
    """Whether the connection is encrypted. Without it, whoever is in between reads texts, numbers
    and the password."""
    tls_ca_file: Path | None = None
    """The certificates to trust; none: the system's."""
    user: str = ""
    password: SecretStr = SecretStr("")
    """Better by ``password_env``."""
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}(/[A-Za-z0-9_-]{1,40}){0,3}$")] = (
        "risala"
    )
    """The beginning of all topics. Each service at a broker has one of its own."""
    types: tuple[str, ...] = ("sms.received",)
    """The types of events that are published; empty: all."""
    organizations: tuple[str, ...] = ()
    """The ids of the organizations whose events are published; empty: all."""
    home_assistant: bool = False
    """Whether Home Assistant is told of carriers and organizations, by MQTT discovery."""
    discovery_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")] = "homeassistant"
    """The beginning of the topics of discovery, as in Home Assistant's settings."""
