"""Settings of what Risala itself connects to or writes to, beside carriers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from risala.config.kinds import Name, Network, Section


class WebhooksSection(Section):
    """Where events are delivered to, and how many at once."""

    allow_insecure: bool = False
    """Allow ``http://``, any port and this machine itself, to try things; on in the demo."""
    ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = (443, 8443)
    """Ports that an endpoint's URL may name."""
    allow_networks: tuple[Network, ...] = ()
    """Private networks that may be reached nevertheless, such as ``"10.1.0.0/16"``: any customer
    may then make requests to whatever listens there."""
    attempts_max: Annotated[int, Field(ge=4, le=1000)] = 96
    """Deliveries under way at once; a third of them is for endpoints that are slow or failing."""
    attempts_per_endpoint_max: Annotated[int, Field(ge=1, le=100)] = 8
    """Deliveries to one endpoint at once."""


class MailSection(Section):
    """The server that takes e-mail; without it what would be mailed is logged and shown."""

    host: str | None = None
    """Not set: no e-mail is sent by ``smtp``."""
    mailer: Name = "smtp"
    """Who sends it, of those that plugins bring; ``outbox`` writes it into a file instead."""
    outbox: Path | None = None
    """The file for ``mailer = "outbox"``: a line of JSON for each mail, codes and all."""
    port: Annotated[int, Field(ge=1, le=65535)] = 587
    """Usually 587 with ``starttls``, 465 with ``tls``."""
    security: Literal["starttls", "tls", "none"] = "starttls"
    """How the connection is encrypted; ``none`` sends a password in the clear."""
    user: str | None = None
    """Not set: no log-in."""
    password_env: str | None = None
    """Name of the environment variable that holds the password."""
    sender: str = "risala@localhost"
    """The address that mails are from."""
    operator: str | None = None
    """Address that is told what concerns an organization without an address of its own."""


class StandbySection(Section):
    """A second machine that has a copy, a moment old, and can take over."""

    directory: Path | None = None
    """Where what is written is put for the standby: a directory of its own, on another disk or
    another machine. Unset: nothing is put anywhere."""
    every_s: Annotated[float, Field(ge=0.1, le=60)] = 1.0
    """How often; so much, and what it takes to write, is lost with this machine."""
    lease_directory: Path | None = None
    """Where both machines see who of them may send: a directory on a third machine, or on the
    standby. The service sends nothing while it cannot write there. Unset: there is no lease."""
    lease_s: Annotated[int, Field(ge=3, le=600)] = 30
    """Seconds without a renewal after which the service has ended itself."""
