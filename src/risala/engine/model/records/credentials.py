"""Credentials for faces other than the API: what operations answer, and what faces ask by."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, JsonName, Moment
from risala.engine.model.states import Mode


@dataclass(frozen=True, slots=True)
class CompatCredential:
    """A credential as it is listed, without its password."""

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    face: Annotated[str, AUDITED]
    """The face that it is for: ``kannel``, ``twilio``, ``playsms``, ``smpp``, or a plugin's."""
    username: Annotated[str, AUDITED]
    mode: Annotated[Mode, AUDITED]
    name: Annotated[str | None, AUDITED]
    sender: Annotated[str | None, AUDITED, JsonName("from")]
    """Whom a message is from that names nobody; None: the service's own sender."""
    hears: Annotated[bool, UNAUDITED, JsonName("inbound")]
    """Texts from phones to the organization go to it too, where its face delivers any."""
    last4: Annotated[str, AUDITED]
    """The end of the password."""
    allowed_addresses: Annotated[tuple[str, ...] | None, AUDITED]
    """Addresses and networks that it may be used from; None: any."""
    created_at: Annotated[Moment, UNAUDITED]
    created_by: Annotated[str, UNAUDITED]
    last_used_at: Annotated[Moment | None, UNAUDITED]
    revoked_at: Annotated[Moment | None, UNAUDITED]
    """The trail shows that it is revoked, and not when."""


@dataclass(frozen=True, slots=True)
class CreatedCredential:
    """A new credential with its password, which its owner sees here and never again."""

    credential: CompatCredential
    password: str = field(repr=False)

    @property
    def id(self) -> str:
        return self.credential.id


@dataclass(frozen=True, slots=True)
class CompatCredentials:
    """The credentials of an organization, without their passwords."""

    credentials: tuple[CompatCredential, ...]


CREATE: Final = Ask("credential.create", CreatedCredential)
LIST: Final = Ask("credential.list", CompatCredentials)
REVOKE: Final = Ask("credential.revoke", CompatCredential)
