"""Settings of Risala's own connections and outputs, besides carriers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from risala.config.kinds import Name, Network, Section


class WebhooksSection(Section):
    """Delivery of events to webhook endpoints."""

    allow_insecure: bool = False
    """Allow ``http://``, any port and this machine itself, for trials; on in the demo."""
    ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = (443, 8443)
    """The ports that an endpoint's URL may have."""
    allow_networks: tuple[Network, ...] = ()
    """Private networks that may be reached, such as ``"10.1.0.0/16"``: any customer can then make
    requests to all servers there."""
    attempts_max: Annotated[int, Field(ge=4, le=1000)] = 96
    """The most deliveries at once; a third of them is for slow or failing endpoints."""
    attempts_per_endpoint_max: Annotated[int, Field(ge=1, le=100)] = 8
    """The most deliveries to one endpoint at once."""


class MailSection(Section):
    """The server that takes e-mail; without it, mails are logged and shown instead."""

    host: str | None = None
    """Not set: no e-mail is sent by ``smtp``."""
    mailer: Name = "smtp"
    """The plugin that sends mails; ``outbox`` writes them into a file instead."""
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
    """The sender address of mails."""
    operator: str | None = None
    """The address for mails about an organization that has no address of its own."""


class StandbySection(Section):
    """A second machine that has a recent copy, and can take over."""

    directory: Path | None = None
    """A separate directory for the standby's copy, on another disk or another machine. Unset: no
    copy."""
    every_s: Annotated[float, Field(ge=0.1, le=60)] = 1.0
    """How often it is written; this time, and the time to write, is lost with this machine."""
    lease_directory: Path | None = None
    """The directory where both machines see which of them may send: on a third machine, or on the
    standby. The service sends nothing while it cannot write there. Unset: no lease."""
    lease_s: Annotated[int, Field(ge=3, le=600)] = 30
    """Seconds without a renewal after which the service ends itself."""
