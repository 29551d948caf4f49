"""Who is asking: the key in the header, looked at before a byte of the body is read."""

from __future__ import annotations

from risala.engine.model.commands import KeyType, Principal
from risala.engine.model.errors import Forbidden, Unauthorized
from risala.http.common.facade import GatewayFacade
from risala.http.common.plain import Fields


def api_key(fields: Fields) -> str:
    """The key of ``x-api-key``, else of ``Authorization: Bearer``.

    Raises:
        Unauthorized: there is none, or more than one.
    """
    keys = fields.get(b"x-api-key")
    if not keys:
        scheme, _, token = fields.get(b"authorization", (b"",))[0].partition(b" ")
        keys = (token,) if scheme.lower() == b"bearer" else ()
    if len(keys) != 1 or not (key := keys[0].decode("latin-1").strip()):
        raise Unauthorized
    return key


def secret_key(gateway: GatewayFacade, fields: Fields) -> Principal:
    """Who holds the secret key of a request.

    Raises:
        Unauthorized: the key is missing, unknown or disabled (401).
        Forbidden: the organization is not active, or the key is a publishable one (403).
    """
    principal = gateway.authenticate(api_key(fields))
    if principal.type is not KeyType.SECRET:
        raise Forbidden("This endpoint needs a secret key (sk_live_…).")
    return principal
