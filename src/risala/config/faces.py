"""Settings of the listeners for HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from risala.config.kinds import Bind, Network, PublicUrl, Section, SenderName
from risala.sms.limits import TEXT_CHARACTERS_MAX


class MetricsSection(Section):
    """``/metrics`` for Prometheus: at the main address, only for this machine, or elsewhere."""

    enabled: bool = True
    """False: no ``/metrics``."""
    host: str | None = None
    """A separate address for it, open to everybody who reaches it, also through a reverse proxy on
    this machine. Not set: it is at the main address, for clients on this machine whose requests
    have no proxy's header."""
    port: Annotated[int, Field(ge=0, le=65535)] = 9464
    """The port at ``host``; 0 takes a free one and prints it."""


class HttpSection(Section):
    """The address of the API and the dashboard, and their limits."""

    host: str = "127.0.0.1"
    """The address to listen on; ``0.0.0.0`` is every IPv4 address of the machine."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """0 takes a free port and prints it."""
    public_url: PublicUrl | None = None
    """The address that people use, behind a reverse proxy or by name. Links in mails and in the
    quick start begin with it, never with a request's own host. Not set: ``host`` and ``port``."""
    console_bind: Bind | None = None
    """A separate address for the operator's pages, such as ``127.0.0.1:8081``: the main address
    then has none of them. It uses https with the same certificate, if there is one. Not set: the
    console is at the main address, under ``/operator/``."""
    console_url: PublicUrl | None = None
    """The address that operators use for the console, if it is not ``public_url``."""
    tls_certificate: Path | None = None
    """A PEM file with a certificate, and those between it and its authority: the address then
    speaks only https. SIGHUP reads it again. Not set: plain HTTP."""
    tls_key: Path | None = None
    """A PEM file with its key, without a password. Not set: the key is in the same file."""
    body_max_bytes: Annotated[int, Field(ge=1024, le=16 * 1024 * 1024)] = 64 * 1024
    """The largest request body; batches have a separate limit. A larger one is answered 413."""
    batch_body_max_bytes: Annotated[int, Field(ge=1024, le=64 * 1024 * 1024)] = 8 * 1024 * 1024
    """The largest body of ``POST /api/sms/batch``."""
    batches_read_max: Annotated[int, Field(ge=1, le=1000)] = 8
    """The most batches read at once, which bounds the memory for them; beyond it 503."""
    body_timeout_s: Annotated[float, Field(gt=0, le=300)] = 15.0
    """How long a request's body may take to arrive; beyond it 408."""
    keep_alive_s: Annotated[float, Field(gt=0, le=600)] = 75.0
    """How long a connection may stay open without a request."""
    connections_max: Annotated[int, Field(ge=16, le=1_000_000)] = 10_000
    """The most connections at once; beyond it the longest idle one is closed, or the new one
    answered 503."""
    graceful_stop_s: Annotated[float, Field(ge=0, le=120)] = 10.0
    """How long a stop waits for open requests."""
    metrics: MetricsSection = MetricsSection()
    """Numbers for Prometheus."""
    trusted_proxies: tuple[Network, ...] = ()
    """Reverse proxies whose ``X-Forwarded-For`` says the client's address. The header is ignored
    from all others."""

    @field_validator("tls_key")
    @classmethod
    def _has_certificate(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if key is not None and info.data.get("tls_certificate", key) is None:
            raise ValueError("needs tls_certificate beside it")
        return key


class CompatSection(Section):
    """The HTTP of other gateways besides the API: a table for each, such as ``[compat.kannel]``
    with ``enabled = true``. ``kannel``, ``twilio``, ``playsms`` and ``smsgate`` are built in."""

    # Each key is a face's own table; the plugin that brings the face validates it.
    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _faces_are_tables(self) -> CompatSection:
        for name, table in (self.__pydantic_extra__ or {}).items():
            if not isinstance(table, dict):
                raise ValueError(f"{name} must be a table, [compat.{name}]")
            if not isinstance(table.get("enabled", False), bool):
                raise ValueError(f"{name}.enabled must be true or false")
        return self

    @property
    def enabled(self) -> dict[str, dict[str, Any]]:
        """The table of each enabled face, without ``enabled``."""
        return {
            name: {key: value for key, value in table.items() if key != "enabled"}
            for name, table in (self.__pydantic_extra__ or {}).items()
            if table.get("enabled", False)
        }


MailSender = Annotated[
    str,
    Field(
        pattern=r"^[^@\s]*@[^@\s]+$",
        json_schema_extra={
            "words": 'an address or a domain: "alerts@example.com" or "@example.com"'
        },
    ),
]


class MailToSmsSection(Section):
    """Senders that may send messages by mail, through a mail server that calls ``risala send
    --from-mail``. The first table that has the envelope's sender among its ``senders`` counts; in
    none: refused."""

    senders: Annotated[tuple[MailSender, ...], Field(min_length=1)]
    """Addresses, and domains with all their addresses. The mail server must check that they are not
    forged."""
    organization: str | None = None
    """The id of the organization that pays. Not set: the only one."""
    sender: SenderName | None = None
    """The sender of the messages. Not set: ``service.default_sender``."""
    subject: Literal["prefix", "off", "only"] = "prefix"
    """``prefix``: the message begins with the mail's subject; ``off``: the subject is left out;
    ``only``: it is all that is sent."""
    characters_max: Annotated[int, Field(ge=1, le=TEXT_CHARACTERS_MAX)] = 459
    """A longer message is cut. 459 characters are three segments, or seven in Unicode."""
