"""``POST /api/verify/send``, ``/check``, ``/get``, ``/resend`` and ``/start`` (contract §4,
§14)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from risala.dataclass import dataclass
from risala.engine.model.commands import (
    NOTHING_BESIDE,
    RESENDING,
    AddressUse,
    Principal,
)
from risala.engine.model.errors import Forbidden
from risala.engine.model.records.keys import KeyChallenge, KeyType
from risala.http.api.answers import verification_answer
from risala.http.api.fields import BodyContext, Compared
from risala.http.api.verify_bodies import (
    CheckBody,
    CodeGuess,
    PublishableSendBody,
    ResendCodeBody,
    parse_check,
    parse_get,
    parse_send_code,
)
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.client_address import bucket_of
from risala.http.common.parse import read_body
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest, PlainRoutes
from risala.http.common.respond import json_bytes
from risala.http.common.validation import parse_body

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


SEND: Final = "/api/verify/send"
CHECK: Final = "/api/verify/check"
GET: Final = "/api/verify/get"
RESEND: Final = "/api/verify/resend"
START: Final = "/api/verify/start"

_APPROVED: Final = json_bytes({"status": "approved"})
_DENIED: Final = json_bytes({"status": "denied"})


def add_verify(
    paths: PlainRoutes, gateway: Gateway, context: Compared, key_auth: ApiKeyAuth
) -> None:
    """Serve ``POST /api/verify/send``, ``/check``, ``/get``, ``/resend`` and ``/start``."""
    auth = _VerifyAuth(gateway, key_auth)

    async def send(request: PlainRequest) -> PlainAnswer:
        principal = await auth.enter(request, AddressUse.CODE_SEND)
        faults_of = partial(gateway.code_faults, principal)
        raw = await read_body(request)
        command = parse_send_code(raw, context(), faults_of, _SENT_BY[principal.type])
        if principal.type is KeyType.PUBLISHABLE:
            command = replace(command, client=str(bucket_of(key_auth.address(request))))
        if principal.challenge is not KeyChallenge.NEVER:
            command = replace(command, beside={"challenge": NOTHING_BESIDE, **command.beside})
        verification_id = await gateway.send_code(principal, command)
        return PlainAnswer(json_bytes({"verificationId": verification_id}))

    async def check(request: PlainRequest) -> PlainAnswer:
        principal = await auth.enter(request, AddressUse.CODE_CHECK)
        raw, by_number = await read_body(request), None
        if principal.type is KeyType.SECRET:
            by_number = _by_number(raw, context())
        if by_number is None:
            guess = parse_check(raw, _CHECKED_BY[principal.type])
        else:
            to, rest = by_number
            guess = rest._replace(verification_id=gateway.pending_verification(principal, to))
        approved = await gateway.check_code(principal, *guess)
        return PlainAnswer(_APPROVED if approved else _DENIED)

    async def get(request: PlainRequest) -> PlainAnswer:
        principal = key_auth.secret(request)
        return await shown(principal, parse_get(await read_body(request)))

    async def shown(principal: Principal, verification_id: str) -> PlainAnswer:
        # After an unknown outcome of a check, this tells the truth.
        view = await gateway.show_verification(principal, verification_id)
        return PlainAnswer(json_bytes(verification_answer(view, lean=gateway.is_lean(principal))))

    async def resend(request: PlainRequest) -> PlainAnswer:
        principal = await auth.enter(request, AddressUse.CODE_SEND)
        body = parse_body(ResendCodeBody, await read_body(request))
        sending = gateway.access(RESENDING)
        await sending.resend(principal, body.verification_id, body.channel)
        if principal.type is KeyType.SECRET:
            return await shown(principal, body.verification_id)
        return PlainAnswer(json_bytes({"verificationId": body.verification_id}))

    async def start(request: PlainRequest) -> PlainAnswer:
        principal = await auth.enter(request, AddressUse.CODE_SEND)
        # Imported here: few services have numbers that can be texted or called.
        from risala.http.api.verify_start import start_answer

        raw = await read_body(request)
        return PlainAnswer(json_bytes(await start_answer(gateway, principal, raw, context())))

    open_to_browsers(paths, SEND, send)
    open_to_browsers(paths, CHECK, check)
    open_to_browsers(paths, RESEND, resend)
    open_to_browsers(paths, START, start)
    paths.route(GET, get)


def _plain_body() -> type[PublishableSendBody]:
    return PublishableSendBody


def _secret_body() -> type[PublishableSendBody]:
    # Imported here: few servers say more than a number.
    from risala.http.api.verify_beside import SendCodeBody

    return SendCodeBody


def _plain_check() -> type[CheckBody]:
    from risala.http.api.verify_beside import PublishableCheckBody

    return PublishableCheckBody


def _secret_check() -> type[CheckBody]:
    from risala.http.api.verify_beside import CheckCodeBody

    return CheckCodeBody


def _by_number(raw: bytes, context: BodyContext) -> tuple[str, CodeGuess] | None:
    if b'"to"' not in raw:
        return None
    from risala.http.api.verify_beside import parse_check_by_number

    return parse_check_by_number(raw, context)


_CHECKED_BY: Final = {KeyType.PUBLISHABLE: _plain_check, KeyType.SECRET: _secret_check}
_SENT_BY: Final = {KeyType.PUBLISHABLE: _plain_body, KeyType.SECRET: _secret_body}


@dataclass(frozen=True, slots=True)
class _VerifyAuth:
    """Checks the key, its origin and the address's limit, before a byte of the body is read."""

    gateway: Gateway
    key_auth: ApiKeyAuth

    async def enter(self, request: PlainRequest, use: AddressUse) -> Principal:
        """The key that asks: checks it and its organization, its origin, then the address's limit.

        Raises:
            Unauthorized: the key is missing, unknown or disabled.
            Forbidden: the organization is not active, or the key is not for pages of this origin,
                or not for the client's address.
            RateLimited: the address has asked too often; this call was not counted.
        """
        principal = self.key_auth.holder(request)
        check_origin(principal, request.fields.get(b"origin", ()))
        self.key_auth.check_address(principal, request)
        if principal.type is KeyType.PUBLISHABLE:
            await self.gateway.take_address(use, bucket_of(self.key_auth.address(request)))
        return principal


# CORS: publishable keys are used in browsers, so pages of other origins may use two paths; all
# other paths are closed to them.

MAX_AGE_S: Final = 7200
"""How long a browser may go without asking again; Chromium heeds no more than this."""
_PREFLIGHT: Final = (
    ("access-control-allow-methods", "POST"),
    ("access-control-allow-headers", "content-type, x-api-key, authorization"),
    ("access-control-max-age", str(MAX_AGE_S)),
)


def open_to_browsers(paths: PlainRoutes, path: str, handler: Handler) -> None:
    """Serve POST of ``path``, answer its preflights without a key, let pages read all its answers.

    Pages of any origin may read them: which origins are served is decided by the key
    (:func:`check_origin`), which a preflight does not have. Cookies are never looked at, so that a
    page can do nothing in its visitor's name.
    """

    async def preflight(_: PlainRequest) -> PlainAnswer:
        return PlainAnswer(b"", 204, _PREFLIGHT)

    paths.add(path, {"POST": handler, "OPTIONS": preflight})


def check_origin(principal: Principal, origins: Iterable[bytes]) -> None:
    """Check that a key may be used from where it is used.

    Args:
        origins: the request's ``Origin`` headers: one from a browser, none from a server.

    Raises:
        Forbidden: the key is not for pages of this origin.
    """
    allowed = principal.allowed_origins
    if allowed is not None and not all(each.decode("latin-1") in allowed for each in origins):
        raise Forbidden("This API key may not be used from this origin.")
