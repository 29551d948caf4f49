"""Who is asking: the key in the header, looked at before a byte of the body is read."""

from __future__ import annotations

from werkzeug.datastructures import Headers

from risala.engine.model.commands import KeyType, Principal
from risala.engine.model.errors import Forbidden, Unauthorized
from risala.http.common.facade import GatewayFacade


def api_key(headers: Headers) -> str:
    """The key of ``x-api-key``, else of ``Authorization: Bearer``.

    Raises:
        Unauthorized: there is none, or more than one.
    """
    keys = headers.getlist("x-api-key")
    if not keys:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            keys = [token]
    if len(keys) != 1 or not (key := keys[0].strip()):
        raise Unauthorized
    return key


def secret_key(gateway: GatewayFacade, headers: Headers) -> Principal:
    """The principal of a secret key: 401, then 403 for the organization, then for the type."""
    principal = gateway.authenticate(api_key(headers))
    if principal.type is not KeyType.SECRET:
        raise Forbidden("This endpoint needs a secret key (sk_live_…).")
    return principal
