"""Starts reverse verifications, and finds them for their pages."""

from __future__ import annotations

import io
import secrets
from typing import Final

from risala.engine.features.reverse.lines import best_line, origin_of
from risala.engine.features.reverse.records import (
    MEMBER,
    CarrierOrigin,
    HostedVerification,
    ReverseLine,
    ReverseRequest,
    ReverseSession,
)
from risala.engine.features.reverse.rules import (
    call_link,
    text_code,
    text_link,
    token_mark,
    word_of,
)
from risala.engine.features.reverse.stored import ReverseRepository
from risala.engine.model.audit import AuditEntry
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import Invalid, NotFound, VerifyRefused
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.verify.sessions import Method, StartedReverse
from risala.engine.model.states import Mode, SessionState
from risala.engine.rules.verification import VerificationRow
from risala.engine.services import Services
from risala.engine.verify.sessions import Open, settle_seen

TOKEN_BYTES: Final = 16
"""128 random bits."""
TEST_LINE: Final = ReverseLine("1234", "test")
"""What test keys are told to text or call: nobody has it."""
_SILENT_IN_TEST: Final = ("00", "01", "02", "03")
"""Ends of numbers by which nothing comes to test keys."""
_QR_SCALE: Final = 6
NO_NUMBER: Final = {
    Method.INBOUND_SMS: (
        "No number of this service can be texted to prove a number: no carrier brings texts whose"
        " senders are believed, and has a number that is known. Send a code instead."
    ),
    Method.MISSED_CALL: (
        "No number of this service can be called now to prove a number: no modem that reports calls"
        " is connected, and has a number that is known. Take inbound_sms, or send a code."
    ),
}
NO_PAGE: Final = "There is no such verification."


class ReverseStarting:
    """A :class:`risala.engine.features.reverse.records.ReverseAccess`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._stored = services.repositories.part(ReverseRepository)

    async def start(
        self,
        principal: Principal,
        method: Method,
        to: str | None,
        locale: str | None,
        by: AuditEntry | None = None,
    ) -> StartedReverse:
        if to is None and (method is Method.MISSED_CALL or principal.type is not KeyType.SECRET):
            why = "a call" if method is Method.MISSED_CALL else "a publishable key"
            raise Invalid("to", "required", f"`to` is required with {why}.")
        is_test = principal.mode is Mode.TEST
        line = TEST_LINE if is_test else best_line(self._services, method, to)
        if line is None:
            raise VerifyRefused("NO_NUMBER", NO_NUMBER[method])
        token = secrets.token_urlsafe(TOKEN_BYTES)
        request = ReverseRequest(method, line, token_mark(token), to is not None)
        # A session without a number has an hour of its own: it counts for the organization alone.
        recipient = f"?{token}" if to is None else to
        command = SendCode(recipient, locale, beside={MEMBER: request})
        verification_id: str = await self._services.sessions.ask(Open(principal, command, by))
        row = self._services.repositories.verifications.session(verification_id)
        session = self._stored.find(verification_id)
        assert session is not None, "it was stored with its session"
        started = self._started(row, session, token)
        if is_test and not (to or "").endswith(_SILENT_IN_TEST):
            number = to or self._services.settings.plan.example
            await self._stored.arrive_in_test(row, number, row.created_at)
        return started

    def _started(self, row: VerificationRow, session: ReverseSession, token: str) -> StartedReverse:
        text, link, drawn = self._shown(session)
        return StartedReverse(
            verification_id=row.id,
            status=row.status,
            method=session.method.value,
            send_to=session.send_to,
            text=text,
            link=link,
            qr_svg=drawn,
            page=f"{self._services.public_url}/v/{token}",
            expires_at=row.expires_at,
        )

    def _shown(self, session: ReverseSession) -> tuple[str | None, str, str]:
        """The text, the link, and its drawing."""
        number = session.send_to
        if session.method is Method.MISSED_CALL:
            link = call_link(number)
            return None, link, qr_svg(link)
        word = word_of(self._services.server_keys.ring(), session.verification_id)
        text = f"{session.name} {word}".lstrip()
        return text, text_link(number, text), qr_svg(text_code(number, text))

    def origin(self, carrier: str) -> CarrierOrigin | None:
        workers = self._services.delivery.workers()
        worker = next((each for each in workers if each.name == carrier), None)
        return None if worker is None else origin_of(self._services, worker)

    async def hosted(self, token: str) -> HostedVerification:
        services = self._services
        session = self._stored.by_token(token_mark(token))
        if session is None:
            raise NotFound(NO_PAGE)
        stored = services.repositories.verifications
        row = stored.session(session.verification_id)
        if await settle_seen(services.sessions, services.recorder.clock, (row,)):
            row = stored.session(session.verification_id)
        is_pending = row.status_at(services.recorder.clock.now_ms()) is SessionState.PENDING
        text, link, drawn = self._shown(session) if is_pending else (None, "", "")
        return HostedVerification(
            verification_id=row.id,
            organization_id=row.organization_id,
            status=row.status_at(services.recorder.clock.now_ms()),
            method=session.method,
            name=session.name,
            send_to=session.send_to,
            text=text,
            link=link,
            qr_svg=drawn,
            locale=session.locale,
            refused=session.refused if is_pending else None,
        )


def qr_svg(text: str) -> str:
    """A QR code as an SVG drawing, without styles."""
    # Imported here: an idle service draws none.
    import segno

    drawn = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        drawn, kind="svg", scale=_QR_SCALE, dark="#000", light="#fff", xmldecl=False, nl=False,
        svgclass="qr", lineclass=None,
    )  # fmt: skip
    return drawn.getvalue().decode()
