"""The engine as HTTP uses it: the shape of :class:`risala.engine.gateway.gateway.Gateway`.

A protocol, so that a test can use a small real class instead of the gateway.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from risala.engine.model.callers import Caller
from risala.engine.model.commands import (
    AddressUse,
    Principal,
    Readiness,
    SendCode,
    SendMessage,
)
from risala.engine.model.errors import FieldFault, Refusal
from risala.engine.model.records.asks import Ask, Versioned
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.verify.sessions import VerificationView

R = TypeVar("R")


class GatewayFacade(Protocol):
    def authenticate(self, api_key: str, address: str | None = None, /) -> Principal:
        """The key's holder; notes the ``address`` that it is used from. Raises ``Unauthorized``, or
        ``Forbidden`` for the organization."""

    async def take_address(self, use: AddressUse, bucket: Hashable, /) -> None:
        """Count one call of a client's address. Raises ``RateLimited``, having counted nothing."""

    async def send_message(self, principal: Principal, command: SendMessage, /) -> bytes:
        """Accept a message; the response's body, byte for byte the same for a repeated key."""

    async def send_together(
        self, principal: Principal, commands: Sequence[SendMessage], /
    ) -> Sequence[bytes | Exception | None] | None:
        """:meth:`send_message` for each of these requests, by one unit: what it returns or raises.
        None for one or all: nothing was done, and it has to be asked alone."""

    async def send_batch(
        self, principal: Principal, commands: Sequence[SendMessage], /
    ) -> Sequence[bytes | Refusal]:
        """Accept many messages; for each, in order, its response's body or why it was refused."""

    def get_message(self, principal: Principal, message_id: str, /) -> MessageView:
        """A message of the caller's. Raises ``NotFound`` also for another organization's."""

    def is_lean(self, principal: Principal, /) -> bool:
        """Whether the caller's organization has messages answered in seven fields."""

    @property
    def is_self_paid(self) -> bool:
        """Whether nobody pays for messages: then there is no balance."""

    async def send_code(self, principal: Principal, command: SendCode, /) -> str:
        """Send a one-time code; the id of its session."""

    def code_faults(
        self, principal: Principal, app_hash: str | None, origin: str | None, /
    ) -> list[FieldFault]:
        """The faults for which ``send_code`` would refuse these; for a body that is already
        wrong."""

    async def check_code(self, principal: Principal, verification_id: str, code: str, /) -> bool:
        """Whether the code is approved. Raises ``NotFound`` also for another organization's."""

    async def show_verification(
        self, principal: Principal, verification_id: str, /
    ) -> VerificationView:
        """:meth:`get_verification`, once what it says is certain. Raises ``Unavailable``: that is
        not known."""

    def get_verification(self, principal: Principal, verification_id: str, /) -> VerificationView:
        """A session of the caller's. Raises ``NotFound`` also for another organization's."""

    def readiness(self) -> Readiness: ...


class Operator(Protocol):
    async def perform(
        self, name: str, arguments: dict[str, Any], caller: Caller, /
    ) -> dict[str, Any]:
        """Do one operation, JSON in and out. Raises ``Refusal``, also if the caller lacks
        permission."""

    async def ask(self, ask: Ask[R], arguments: dict[str, Any], caller: Caller, /) -> Versioned[R]:
        """:meth:`perform` with a typed answer. Raises the same."""


class UploadOperator(Operator, Protocol):
    """Operations by name, and files for them."""

    async def receive_upload(
        self, organization_id: str, chunks: AsyncIterator[bytes], name: str, caller: Caller, /
    ) -> str:
        """Store a file; the id of the upload. Raises ``Refusal``: it is too large, or too many
        wait."""


class ApiGateway(GatewayFacade, Operator, Protocol):
    """The calls of the API: those of the hot path, and operations by name."""

    def endpoint_faults(self, members: Mapping[str, object], /) -> Sequence[FieldFault]:
        """The faults that ``webhook.create`` and ``webhook.update`` find in these fields."""
