"""Ways in for other software: credentials for faces other than the API, their callers and calls,
and mails that become messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Final

from risala.dataclass import dataclass
from risala.engine.model.commands import Principal
from risala.engine.model.events import MessageEvent
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, JsonName, Moment
from risala.engine.model.states import Mode


@dataclass(frozen=True, slots=True)
class CompatCredential:
    """A credential as it is listed, without its password."""

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    face: Annotated[str, AUDITED]
    """The face that it is for: ``kannel``, ``twilio``, ``playsms``, ``smsgate``, ``smpp``, or a
    plugin's."""
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


@dataclass(frozen=True, slots=True)
class Admitted:
    """A caller admitted with a credential."""

    credential: CompatCredential
    principal: Principal


@dataclass(frozen=True, slots=True)
class Proof:
    """What a password is compared with."""

    hash: bytes = field(repr=False)
    salt: bytes | None = field(repr=False)
    """None: the hash is a plain one."""
    signer: bytes | None = field(repr=False)
    """Sealed, once it is stored."""


@dataclass(frozen=True, slots=True)
class MailedMessage:
    """What became of a mail."""

    message_id: str | None
    """None: it was passed over in silence."""
    ignored: str | None = None
    """Why, in a sentence."""


CREATE: Final = Ask("credential.create", CreatedCredential)
LIST: Final = Ask("credential.list", CompatCredentials)
REVOKE: Final = Ask("credential.revoke", CompatCredential)
MAIL: Final = Ask("message.mail", MailedMessage)


# -- calls that faces owe their customers, as a message goes on


@dataclass(frozen=True, slots=True)
class Callback:
    """What to call as a message goes on."""

    credential: str
    url: str = field(repr=False)
    told: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class OwedCall:
    """A call for one event of a message."""

    event: int
    message: int
    credential: str


@dataclass(frozen=True, slots=True)
class CallToMake:
    """Everything that one attempt needs."""

    message: int
    event: MessageEvent
    event_id: str
    callback: Callback
    tries: int = 0
    """Including this one."""
