"""The organization of the thing that an operation's arguments name."""

from __future__ import annotations

from typing import Protocol

from risala.engine.model.errors import NotFound
from risala.engine.services import Services


class NamesOrganization(Protocol):
    """Arguments that name an organization."""

    @property
    def organization_id(self) -> str | None: ...


class NamesKey(Protocol):
    """Arguments that name a key."""

    @property
    def key_id(self) -> str: ...


class NamesSender(Protocol):
    """Arguments that name a sender."""

    @property
    def sender_id(self) -> str: ...


class NamesMessage(Protocol):
    """Arguments that name a message."""

    @property
    def message_id(self) -> str: ...


class NamesVerification(Protocol):
    """Arguments that name a verification session."""

    @property
    def verification_id(self) -> str: ...


class NamesEndpoint(Protocol):
    """Arguments that name a webhook endpoint."""

    @property
    def endpoint_id(self) -> str: ...


def named(_: Services, arguments: NamesOrganization) -> str | None:
    """The organization that the arguments name."""
    return arguments.organization_id


def of_key(services: Services, arguments: NamesKey) -> str:
    """The organization of a key. Raises ``NotFound``."""
    return services.accounts.key(arguments.key_id).organization_id


def of_sender(services: Services, arguments: NamesSender) -> str:
    """The organization of a sender. Raises ``NotFound``."""
    return services.repositories.senders.sender(arguments.sender_id).organization_id


def of_message(services: Services, arguments: NamesMessage) -> str:
    """The organization of a message. Raises ``NotFound``."""
    message = services.repositories.messages.find(arguments.message_id)
    if message is None:
        raise NotFound("There is no message with this id.")
    return message.organization_id


def of_verification(services: Services, arguments: NamesVerification) -> str:
    """The organization of a verification session. Raises ``NotFound``."""
    return services.repositories.verifications.session(arguments.verification_id).organization_id


def of_endpoint(services: Services, arguments: NamesEndpoint) -> str:
    """The organization of a webhook endpoint. Raises ``NotFound``."""
    return services.repositories.endpoints.endpoint(arguments.endpoint_id).organization_id
