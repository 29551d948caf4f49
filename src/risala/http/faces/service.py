"""The narrow service that a face is handed with each request, over the engine's gateway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from risala.config.model import Settings
from risala.engine.features.compat.records import Admitted
from risala.engine.model import errors
from risala.engine.model.callers import key_holder
from risala.engine.model.cause_sentences import cause_text
from risala.engine.model.commands import AHEAD_MAX_S, CutPart, Principal, SendMessage
from risala.engine.model.ids import key_of
from risala.engine.model.money import money
from risala.engine.model.records.asks import FeatureAccess
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.records.verify.sessions import VerificationView
from risala.engine.model.wire import is_text
from risala.http.common.client_address import Address
from risala.http.faces.code_details import code_of, payment_of
from risala.plugins.face import (
    CallerOrganization,
    CompatCodeDetails,
    CompatPayment,
    FaceCaller,
    FaceMessage,
    FaceMessages,
    FaceMessageState,
    FaceRefusal,
    FaceRefusedError,
    FaceVerification,
)
from risala.sms.address import sender_fault
from risala.sms.alphabet import fits_gsm7
from risala.sms.limits import IDEMPOTENCY_KEY_CHARACTERS, TEXT_CHARACTERS_MAX, VALIDITY_S
from risala.sms.message import Alphabet
from risala.sms.segment import halves

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


REFUSALS: Final[Mapping[type[errors.EngineError], FaceRefusal]] = {
    errors.Unauthorized: FaceRefusal.UNAUTHORIZED,
    errors.AddressNotAllowed: FaceRefusal.ADDRESS,
    errors.CountryNotOpen: FaceRefusal.COUNTRY,
    errors.Forbidden: FaceRefusal.SUSPENDED,
    errors.Invalid: FaceRefusal.INVALID,
    errors.SenderNotApproved: FaceRefusal.SENDER,
    errors.RecipientOptedOut: FaceRefusal.OPTED_OUT,
    errors.NotFound: FaceRefusal.NOT_FOUND,
    errors.Conflict: FaceRefusal.CONFLICT,
    errors.InsufficientBalance: FaceRefusal.NO_BALANCE,
    errors.SpendCapReached: FaceRefusal.NO_BALANCE,
    errors.RateLimited: FaceRefusal.LIMITED,
    errors.Refusal: FaceRefusal.REFUSED,
    errors.OutcomeUnknown: FaceRefusal.UNKNOWN,
    errors.Unavailable: FaceRefusal.UNAVAILABLE,
}
"""By the most derived class of an error that is in the table."""


_PLACE_DIGITS_MAX: Final = 18
KEYS_MAX: Final = 100
"""The most idempotency keys that are looked up at once: a statement for each that has a message."""


class CompatGateway(Protocol):
    """The used part of :class:`risala.engine.features.compat.access.CompatAccess`."""

    async def admit(
        self, face: str, username: str, password: str, address: Address | None, /
    ) -> Admitted: ...

    def admitted(self, credential_id: str, /) -> Admitted: ...

    def organization(self, principal: Principal, /) -> Organization: ...

    async def send(
        self,
        principal: Principal,
        command: SendMessage,
        callback_url: str | None,
        stored: Mapping[str, Any],
        /,
    ) -> str: ...

    def message(self, principal: Principal, start: str, /) -> MessageView: ...

    def sent_with(self, principal: Principal, keys: Sequence[str], /) -> list[MessageView]: ...

    def messages(
        self,
        principal: Principal,
        *,
        limit: int,
        before: int | None,
        to: str | None,
        sender: str | None,
        since: int | None,
        until: int | None,
    ) -> tuple[list[MessageView], int | None]: ...

    def verification(self, principal: Principal, start: str, /) -> VerificationView: ...

    def verification_to(self, principal: Principal, to: str, /) -> VerificationView: ...


ACCESS: Final[FeatureAccess[CompatGateway]] = FeatureAccess("compat")


class RequestService:
    """For one request of one face: a :class:`risala.plugins.face.FaceService`."""

    def __init__(
        self,
        gateway: Gateway,
        access: CompatGateway,
        settings: Settings,
        face: str,
        address: Address | None,
        now_ms: int,
    ) -> None:
        self._gateway = gateway
        self._access = access
        self._plan = settings.plan
        self._verify = settings.verify
        self._face = face
        self._address = address
        self._now_ms = now_ms
        self.failed = False
        """Count an attempt with an invalid credential."""

    async def admit(self, username: str, password: str) -> FaceCaller:
        try:
            with _refused():
                admitted = await self._access.admit(self._face, username, password, self._address)
        except FaceRefusedError as refused:
            self.failed = refused.refusal is FaceRefusal.UNAUTHORIZED
            raise
        credential = admitted.credential
        return FaceCaller(
            credential.id,
            credential.username,
            credential.organization_id,
            credential.sender,
            credential.mode.value == "test",
        )

    async def send(self, caller: FaceCaller, message: FaceMessage) -> FaceMessageState:
        with _refused():
            principal = self._principal(caller)
            callback = message.callback
            message_id = await self._access.send(
                principal,
                self._command(caller, message),
                None if callback is None else callback.url,
                {} if callback is None else callback.told,
            )
            return _state(self._access.message(principal, message_id))

    def message(self, caller: FaceCaller, start: str) -> FaceMessageState:
        with _refused():
            return _state(self._access.message(self._principal(caller), start))

    def sent_with(
        self, caller: FaceCaller, idempotency_keys: Sequence[str]
    ) -> Sequence[FaceMessageState]:
        with _refused():
            keys = idempotency_keys[:KEYS_MAX]
            return [*map(_state, self._access.sent_with(self._principal(caller), keys))]

    async def messages(
        self,
        caller: FaceCaller,
        *,
        limit: int,
        before: str | None = None,
        to: str | None = None,
        sender: str | None = None,
        since_ms: int | None = None,
        until_ms: int | None = None,
    ) -> FaceMessages:
        with _refused():
            page, older = self._access.messages(
                self._principal(caller),
                limit=limit,
                before=_cursor(before),
                to=to,
                sender=sender,
                since=since_ms,
                until=until_ms,
            )
        return FaceMessages(tuple(map(_state, page)), None if older is None else str(older))

    async def cancel(self, caller: FaceCaller, message_id: str) -> FaceMessageState:
        with _refused():
            principal = self._principal(caller)
            known_id = self._access.message(principal, message_id).id
            await self._perform(principal, "message.cancel", message_id=known_id)
            return _state(self._access.message(principal, known_id))

    async def redact(self, caller: FaceCaller, message_id: str) -> FaceMessageState:
        with _refused():
            principal = self._principal(caller)
            known_id = self._access.message(principal, message_id).id
            await self._perform(principal, "message.erase", message_id=known_id, text_only=True)
            return _state(self._access.message(principal, known_id))

    async def delete(self, caller: FaceCaller, message_id: str) -> None:
        with _refused():
            principal = self._principal(caller)
            known_id = self._access.message(principal, message_id).id
            await self._perform(principal, "message.erase", message_id=known_id)

    async def cancel_code(self, caller: FaceCaller, verification_id: str) -> FaceVerification:
        with _refused():
            principal = self._principal(caller)
            known_id = self._access.verification(principal, verification_id).id
            await self._perform(principal, "verify.cancel", verification_id=known_id)
            return _session(self._access.verification(principal, known_id))

    async def send_code(
        self,
        caller: FaceCaller,
        to: str,
        locale: str | None = None,
        details: CompatCodeDetails | None = None,
    ) -> FaceVerification:
        with _refused():
            principal = self._principal(caller)
            self._check_number(to)
            command = code_of(to, details or CompatCodeDetails(locale), self._verify)
            made = await self._gateway.send_code(principal, command)
            return _session(self._gateway.get_verification(principal, made))

    async def check_code(
        self,
        caller: FaceCaller,
        verification_id: str,
        code: str,
        payment: CompatPayment | None = None,
    ) -> bool:
        with _refused():
            principal, check = self._principal(caller), self._gateway.check_code
            _check(1 <= len(code) <= 64, "code", "A code has 1 to 64 characters.")
            return await check(principal, verification_id, code, payment_of(payment))

    async def report_code(
        self, caller: FaceCaller, verification_id: str, *, is_approved: bool
    ) -> None:
        with _refused():
            principal, check = self._principal(caller), self._gateway.check_code
            reported = "approved" if is_approved else "failed"
            await check(principal, verification_id, None, {"reported": reported})

    def verification(self, caller: FaceCaller, start: str) -> FaceVerification:
        with _refused():
            return _session(self._access.verification(self._principal(caller), start))

    def verification_to(self, caller: FaceCaller, to: str) -> FaceVerification:
        with _refused():
            return _session(self._access.verification_to(self._principal(caller), to))

    def organization(self, caller: FaceCaller) -> CallerOrganization:
        with _refused():
            own = self._access.organization(self._principal(caller))
        return CallerOrganization(money(own.balance), own.currency, own.time_zone)

    def number(self, text: str) -> str:
        with _refused():
            try:
                return self._plan.read(text)
            except ValueError as error:
                raise errors.Invalid("to", "invalid_phone_number", str(error)) from None

    def _check_number(self, to: str) -> None:
        _check(self._plan.serves(to), "to", f"The recipient is not {self._plan.kind}.")

    async def _perform(self, principal: Principal, name: str, **arguments: str | bool) -> None:
        caller = key_holder(principal.key_id, principal.organization_id)
        await self._gateway.perform(name, {**arguments}, caller)

    def _principal(self, caller: FaceCaller) -> Principal:
        return self._access.admitted(caller.credential_id).principal

    def _command(self, caller: FaceCaller, message: FaceMessage) -> SendMessage:
        """A message as a body of the API; every value is checked here, even if the face has let it
        pass."""
        text, part = _text_and_part(message)
        sender, key = message.sender or caller.sender, message.idempotency_key
        validity_s, send_at = message.validity_s, message.send_at_ms
        self._check_number(message.to)
        _check(
            (text or part is not None) and len(text) <= TEXT_CHARACTERS_MAX and is_text(text),
            "text",
            f"A text must have 1 to {TEXT_CHARACTERS_MAX} characters, without NUL and lone "
            "surrogates.",
        )
        if sender is not None and (wrong := sender_fault(sender)):
            raise errors.Invalid("sender", "invalid_sender", wrong)
        least, most = IDEMPOTENCY_KEY_CHARACTERS
        _check(
            key is None or (least <= len(key) <= most and is_text(key)),
            "idempotency_key",
            f"An idempotency key has {least} to {most} characters.",
        )
        shortest, longest = VALIDITY_S
        _check(
            validity_s is None or shortest <= validity_s <= longest,
            "validity_s",
            f"A validity is {shortest} to {longest} seconds.",
        )
        _check(
            send_at is None or send_at <= self._now_ms + AHEAD_MAX_S * 1000,
            "send_at_ms",
            f"A message can be scheduled at most {AHEAD_MAX_S // 86_400} days ahead.",
        )
        _check(message.message_class in (0, None), "message_class", "The only class is 0.")
        is_later = send_at is not None and send_at > self._now_ms
        return SendMessage(
            to=message.to,
            body=text,
            sender=sender,
            idempotency_key=key,
            send_at=send_at if is_later else None,
            validity_s=validity_s,
            part=part,
            message_class=message.message_class,
        )


def _text_and_part(message: FaceMessage) -> tuple[str, CutPart | None]:
    """The text, and for a part its place in its message. A part is sent exactly as it was cut, even
    inside a character."""
    place = message.part
    if place is None or place.total == 1:
        return message.text, None
    _check(message.text != "", "text", "A part has a text.")
    alphabet = Alphabet.UCS2 if message.part_in_ucs2 else Alphabet.GSM7
    try:
        before, text, behind = halves(message.text, alphabet)
    except ValueError as fault:
        raise errors.Invalid("text", "invalid_characters", f"{fault}.") from None
    if not message.part_in_ucs2:
        _check(fits_gsm7(text), "text", "A part with letters beyond GSM 03.38 is UCS-2.")
    part = CutPart(place, alphabet, (before, behind))
    _check(part.takes(text), "text", f"A part has room for {part.room} septets or code units.")
    return text, part


@contextmanager
def _refused() -> Iterator[None]:
    """Turns exceptions of the engine into those for faces."""
    try:
        yield
    except errors.EngineError as error:
        refusal = next(REFUSALS[kind] for kind in type(error).__mro__ if kind in REFUSALS)
        field = error.path if isinstance(error, errors.Invalid) else None
        retry_after_s = getattr(error, "retry_after_s", None)
        # ``from None``: a face's own error may go into a log, where the engine's must not be.
        raise FaceRefusedError(
            refusal, str(error), field=field, retry_after_s=retry_after_s
        ) from None


def _check(holds: bool, field: str, text: str) -> None:
    if not holds:
        raise errors.Invalid(field, "invalid", text)


def _cursor(before: str | None) -> int | None:
    if before is None:
        return None
    # A place of more digits is one that SQLite's numbers do not reach.
    if not (before.isascii() and before.isdigit() and len(before) <= _PLACE_DIGITS_MAX):
        raise errors.NotFound("There is no such page.")
    return int(before)


def _state(view: MessageView) -> FaceMessageState:
    return FaceMessageState(
        message_id=view.id,
        number=key_of(view.id) or 0,
        to=view.to,
        sender=view.sender,
        text=view.body,
        status=str(view.status),
        segments=view.segments,
        price=money(view.price),
        currency=view.currency,
        error_code=view.error_code,
        error_text=cause_text(view.error_code),
        carrier_code=view.carrier_code,
        created_at_ms=view.created_at,
        updated_at_ms=view.updated_at,
        sent_at_ms=view.sent_at,
    )


def _session(view: VerificationView) -> FaceVerification:
    return FaceVerification(
        verification_id=view.id,
        to=view.to,
        status=str(view.status),
        attempts=view.attempts,
        attempts_max=view.attempts_max,
        created_at_ms=view.created_at,
        updated_at_ms=view.updated_at,
    )
