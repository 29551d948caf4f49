"""The caller of a request: the key in the header, checked before any byte of the body is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from risala.dataclass import dataclass
from risala.engine.model.commands import Principal
from risala.engine.model.errors import AddressNotAllowed, Forbidden, Unauthorized
from risala.engine.model.records.keys import KeyType
from risala.http.common.client_address import Address, ClientAddresses
from risala.http.common.plain import Fields, PlainRequest

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


def api_key(fields: Fields) -> str:
    """The key of ``x-api-key``, else of ``Authorization: Bearer``.

    Raises:
        Unauthorized: the key is missing, or there is more than one.
    """
    keys = fields.get(b"x-api-key")
    if not keys:
        scheme, _, token = fields.get(b"authorization", (b"",))[0].partition(b" ")
        keys = (token,) if scheme.lower() == b"bearer" else ()
    if len(keys) != 1 or not (key := keys[0].decode("latin-1").strip()):
        raise Unauthorized
    return key


@dataclass(frozen=True, slots=True)
class ApiKeyAuth:
    """Lets requests in by their keys."""

    gateway: Gateway
    addresses: ClientAddresses

    def holder(self, request: PlainRequest) -> Principal:
        """The holder of a request's key.

        Raises:
            Unauthorized: the key is missing, unknown or disabled (401).
            Forbidden: the organization is not active (403).
        """
        key, client = api_key(request.fields), request.client
        forwarded = tuple(request.fields.get(b"x-forwarded-for", ()))
        address = self.addresses.text_of(client[0] if client else None, forwarded)
        request.principal = principal = self.gateway.authenticate(key, address)
        return principal

    def secret(self, request: PlainRequest) -> Principal:
        """The holder of a request's secret key.

        Raises:
            Unauthorized: the key is missing, unknown or disabled (401).
            Forbidden: the organization is not active, the key is a publishable one, or it is not
                for the client's address (403).
        """
        principal = self.holder(request)
        if principal.type is not KeyType.SECRET:
            raise Forbidden("This endpoint needs a secret key (sk_live_…).")
        if principal.allowed_addresses is not None:
            self.check_address(principal, request)
        return principal

    def check_address(self, principal: Principal, request: PlainRequest) -> None:
        """Check that a key may be used from the client's address.

        Raises:
            AddressNotAllowed: it may not.
        """
        allowed = principal.allowed_addresses
        if allowed is None:
            return
        address = self.address(request)
        if address is None or not any(address in network for network in allowed):
            raise AddressNotAllowed(None if address is None else str(address))

    def address(self, request: PlainRequest) -> Address | None:
        """The client's address; None if it is unknown."""
        client = request.client
        forwarded = [each.decode("latin-1") for each in request.fields.get(b"x-forwarded-for", ())]
        return self.addresses.of(client[0] if client else None, forwarded)
