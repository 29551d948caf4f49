"""Settings of the SMPP server that customers bind to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from risala.config.kinds import Bind, Section


class SmppServerSection(Section):
    """The server that customers' own SMPP software binds to, with a credential of its organization.
    Off unless ``enabled``."""

    enabled: bool = False
    """Listen. ``risala credential create smpp`` makes a customer's ``system_id`` and password."""
    bind: tuple[Bind, ...] = ("127.0.0.1:2775",)
    """Addresses for plain SMPP. Passwords and texts cross the network unencrypted: use them within
    a tunnel, or only ``tls_bind``."""
    tls_bind: tuple[Bind, ...] = ()
    """Addresses for SMPP over TLS, such as ``0.0.0.0:3550``."""
    tls_certificate: Path | None = None
    """A PEM file with a certificate, and those between it and its authority. SIGHUP reads it again.
    Not set: ``http.tls_certificate``."""
    tls_key: Path | None = None
    """A PEM file with its key, without a password. Not set: the key is in the same file."""
    system_id: Annotated[
        str,
        Field(
            pattern=r"^[!-~]{1,15}$",
            json_schema_extra={"words": "1 to 15 ASCII characters without spaces"},
        ),
    ] = "RISALA"
    """The server's name in its answer to a bind."""
    default_alphabet: Literal["gsm7", "latin1"] = "gsm7"
    """The meaning of ``data_coding`` 0: GSM 03.38, one septet in each octet, or Latin-1."""
    inbound_coding: Literal["auto", "declared", "gsm7", "utf8", "latin1", "ucs2", "ucs2_le"] = (
        "auto"
    )
    """How the texts of customers' submits are read: ``auto`` believes ``data_coding`` unless the
    content is evidently something else, ``declared`` believes it always, and a form is used for
    every text. A message whose label was not believed says so in its metadata."""
    message_ids: Literal["text", "decimal", "hex"] = "text"
    """The form of a ``message_id``: ``text`` is the id of the API and the pages, 36 characters;
    ``decimal`` (up to 19 digits) and ``hex`` (up to 16) are for software that stores a number of 64
    bits. Messages accepted before a change keep their id."""
    sessions_max: Annotated[int, Field(ge=1, le=100_000)] = 500
    """The most connections at once. For a further one the oldest unbound one is closed; if all are
    bound, the new one."""
    unbound_per_address_max: Annotated[int, Field(ge=1, le=1000)] = 10
    """The most unbound connections from one IPv4 address or IPv6 /64; for a further one the oldest
    of them is closed."""
    sessions_per_credential_max: Annotated[int, Field(ge=1, le=1000)] = 8
    """The most sessions of one credential at once; a further bind is refused."""
    binds_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 30
    """The most binds in any minute from one IPv4 address or IPv6 /64, and as many for each
    ``system_id``; further ones are refused, even with the right password."""
    bind_timeout_s: Annotated[float, Field(gt=0, le=300)] = 10.0
    """How long a connection may stay open without a bind; the same for a TLS handshake."""
    window_max: Annotated[int, Field(ge=1, le=1000)] = 100
    """The most requests of one session that wait for answers; a further one is answered
    ``ESME_RTHROTTLED``."""
    deliver_window_max: Annotated[int, Field(ge=1, le=1000)] = 10
    """The most receipts and messages to one session without its answer."""
    enquire_link_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """How often the server sends a session ``enquire_link``."""
    response_timeout_s: Annotated[float, Field(gt=0, le=300)] = 10.0
    """How long a customer's software may take to answer, and to read our PDUs; then its session is
    closed."""
    inactivity_s: Annotated[float, Field(gt=0, le=86_400)] | None = None
    """A session without messages, receipts or queries for this long is unbound. Not set: it may be
    silent forever, while it answers ``enquire_link``."""
    graceful_stop_s: Annotated[float, Field(ge=0, le=120)] = 5.0
    """How long a stop waits for sessions to be answered and unbound."""

    @field_validator("tls_key")
    @classmethod
    def _has_certificate(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if key is not None and info.data.get("tls_certificate", key) is None:
            raise ValueError("needs tls_certificate beside it")
        return key
