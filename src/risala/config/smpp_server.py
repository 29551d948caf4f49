"""Settings of the SMPP server that customers bind to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from risala.config.kinds import Bind, Section


class SmppServerSection(Section):
    """Customers' own SMPP software binds here, each with a credential of its organization. Off
    unless ``enabled``."""

    enabled: bool = False
    """Listen. ``risala credential create smpp`` makes a customer's ``system_id`` and
    password."""
    bind: tuple[Bind, ...] = ("127.0.0.1:2775",)
    """Addresses that speak plain SMPP. Passwords and texts cross the network as they are: use them
    within a tunnel, or name none and have ``tls_bind`` alone."""
    tls_bind: tuple[Bind, ...] = ()
    """Addresses that speak SMPP over TLS, such as ``0.0.0.0:3550``."""
    tls_certificate: Path | None = None
    """File with a certificate in PEM, and those between it and its authority. SIGHUP reads it
    again. Not set: that of ``http.tls_certificate``."""
    tls_key: Path | None = None
    """File with its key in PEM, without a password. Not set: the key is in the same file."""
    system_id: Annotated[
        str,
        Field(
            pattern=r"^[!-~]{1,15}$",
            json_schema_extra={"words": "1 to 15 ASCII characters without spaces"},
        ),
    ] = "RISALA"
    """What the server calls itself in its answer to a bind."""
    default_alphabet: Literal["gsm7", "latin1"] = "gsm7"
    """What ``data_coding`` 0 means: GSM 03.38, one septet in each octet, or Latin-1."""
    message_ids: Literal["text", "decimal", "hex"] = "text"
    """How a ``message_id`` is written: ``text`` is the id that the API and the pages show, of 36
    characters; ``decimal`` (up to 19 digits) and ``hex`` (up to 16) are for software that stores a
    number of 64 bits. Messages that were accepted before a change keep the id that they have."""
    sessions_max: Annotated[int, Field(ge=1, le=100_000)] = 500
    """Connections at once. For a further one the oldest that has not bound is closed; where all are
    bound, the further one."""
    unbound_per_address_max: Annotated[int, Field(ge=1, le=1000)] = 10
    """Connections from one IPv4 address or IPv6 /64 that have not bound yet; for a further one the
    oldest of them is closed."""
    sessions_per_credential_max: Annotated[int, Field(ge=1, le=1000)] = 8
    """Sessions that one credential may have at once; a further bind is refused."""
    binds_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 30
    """Binds that one IPv4 address or IPv6 /64 may try in any minute, and as many for each
    ``system_id``; those beyond it are refused without a look at the password."""
    bind_timeout_s: Annotated[float, Field(gt=0, le=300)] = 10.0
    """How long a connection may stay open without a bind; a TLS handshake has as long."""
    window_max: Annotated[int, Field(ge=1, le=1000)] = 100
    """Requests of one session that may wait for their answer; one beyond it is answered
    ``ESME_RTHROTTLED``."""
    deliver_window_max: Annotated[int, Field(ge=1, le=1000)] = 10
    """Receipts and messages that may be on their way to one session without its answer."""
    enquire_link_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """How often a session is asked whether it is still there."""
    response_timeout_s: Annotated[float, Field(gt=0, le=300)] = 10.0
    """How long a customer's software may take to answer, and to read what we write; a session
    that takes longer is closed."""
    inactivity_s: Annotated[float, Field(gt=0, le=86_400)] | None = None
    """A session on which no message, receipt or question passed for so long is unbound. Not set:
    it may be silent for ever, as long as it answers ``enquire_link``."""
    graceful_stop_s: Annotated[float, Field(ge=0, le=120)] = 5.0
    """How long a stop waits for sessions to be answered and unbound."""

    @field_validator("tls_key")
    @classmethod
    def _has_certificate(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if key is not None and info.data.get("tls_certificate", key) is None:
            raise ValueError("needs tls_certificate beside it")
        return key
