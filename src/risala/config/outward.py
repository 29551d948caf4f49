"""Settings of Risala's own connections and outputs, besides carriers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from risala.config.kinds import Name, Network, Section


class RepliesSection(Section):
    """Automatic answers to texts that come in: of rules, of opt-outs and of programs together."""

    per_number_and_day: Annotated[int, Field(ge=1, le=1000)] = 5
    """The most that one number gets from an organization within 24 hours. After two within an hour
    no more leave for it for a day, whatever is set here: it may be a machine that answers too."""
    per_organization_and_hour: Annotated[int, Field(ge=1, le=100_000)] = 100
    """The most that leave for an organization within an hour."""


class WebhooksSection(Section):
    """Delivery of events to webhook endpoints."""

    allow_insecure: bool = False
    """Allow ``http://``, any port and this machine itself, for trials; in the demo, true if it is
    not set."""
    ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = (443, 8443)
    """The ports that an endpoint's URL may have; ``[]``: no webhook leaves this service."""
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


class StandbyPostgresqlSection(Section):
    """The PostgreSQL that holds the standby's copy and the lease."""

    url_env: str = "RISALA_STANDBY_URL"
    """Name of the environment variable that holds its address, in the words of libpq:
    `postgresql://user:password@host/database`; it may name several hosts."""
    installation: Name = "risala"
    """What tells this pair of machines from others in the same PostgreSQL."""


class StandbySection(Section):
    """A second machine that has a recent copy, and can take over."""

    copies: Literal["directory", "postgresql"] | None = Field(
        None,
        alias="copy",
        description="Where the copy is put: into `directory`, or into the PostgreSQL of "
        "`[standby.postgresql]`. Unset: into `directory`, if that is set.",
    )
    lease: Literal["directory", "postgresql"] | None = None
    """What decides which of the two machines may send: `lease_directory`, or that PostgreSQL.
    Unset: `lease_directory`, if that is set. A copy in PostgreSQL needs the lease there too."""
    replicate: Literal["async", "before_answer"] = "async"
    """When the copy gets what was written: after the answer, by ``every_s``; or before it, so that
    a yes means two machines. The latter needs a copy in PostgreSQL."""
    answer_wait_s: Annotated[float, Field(ge=0.5, le=60)] = 5.0
    """With ``before_answer``: seconds until a caller is told that the outcome is unknown, because
    PostgreSQL has not confirmed. After three times in a row new work is refused at once."""
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
    postgresql: StandbyPostgresqlSection = StandbyPostgresqlSection()
    """The PostgreSQL that holds the copy and the lease."""

    @model_validator(mode="after")
    def _places_are_named(self) -> StandbySection:
        if self.copies == "directory" and self.directory is None:
            raise ValueError('with copy = "directory", set directory too')
        if self.lease == "directory" and self.lease_directory is None:
            raise ValueError('with lease = "directory", set lease_directory too')
        if self.copies == "postgresql" and self.lease != "postgresql":
            raise ValueError(
                'with copy = "postgresql", set lease = "postgresql" too: PostgreSQL takes the copy '
                "only from the machine that holds the lease there"
            )
        if self.replicate == "before_answer" and self.copies != "postgresql":
            raise ValueError(
                'replicate = "before_answer" needs copy = "postgresql": a directory cannot tell '
                "which of two machines may write"
            )
        return self

    @property
    def copy_kind(self) -> Literal["directory", "postgresql"] | None:
        """The kind of place for the copy; None: there is no copy."""
        return self.copies or (None if self.directory is None else "directory")

    @property
    def lease_kind(self) -> Literal["directory", "postgresql"] | None:
        """What decides who sends; None: nothing does."""
        return self.lease or (None if self.lease_directory is None else "directory")
