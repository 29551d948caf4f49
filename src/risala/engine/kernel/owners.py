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


def named(_: Services, given: NamesOrganization) -> str | None:
    """The organization that the arguments name."""
    return given.organization_id


def of_key(services: Services, given: NamesKey) -> str:
    """The organization of a key. Raises ``NotFound``."""
    return services.accounts.key(given.key_id).organization_id


def of_sender(services: Services, given: NamesSender) -> str:
    """The organization of a sender. Raises ``NotFound``."""
    return services.repositories.senders.sender(given.sender_id).organization_id


def of_message(services: Services, given: NamesMessage) -> str:
    """The organization of a message. Raises ``NotFound``."""
    found = services.repositories.messages.find(given.message_id)
    if found is None:
        raise NotFound("There is no message with this id.")
    return found.organization_id


def of_verification(services: Services, given: NamesVerification) -> str:
    """The organization of a verification session. Raises ``NotFound``."""
    return services.repositories.verifications.session(given.verification_id).organization_id


def of_endpoint(services: Services, given: NamesEndpoint) -> str:
    """The organization of a webhook endpoint. Raises ``NotFound``."""
    return services.repositories.endpoints.endpoint(given.endpoint_id).organization_id
