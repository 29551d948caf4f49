"""Calls customers back through the face that they sent by, at least once for each event.

A row, written with its message, says that a message wants calls. A cursor over the events finds
those that need one. The calls are rows too, and repeated by the schedule of webhooks.
"""

from __future__ import annotations

import hmac
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.features.compat.credentials import Credentials
from risala.engine.features.compat.records import CallToMake, CompatCredential, OwedCall
from risala.engine.features.compat.stored import CallbackRepository
from risala.engine.follow.cursors import EventCursors
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Draining, NotFound, SecretLost, Unavailable
from risala.engine.model.events import EventType
from risala.engine.model.features import Task
from risala.engine.rules.webhooks.queues import Lanes, Widths
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault, decide
from risala.engine.rules.webhooks.types import Outbound, WebhookCall
from risala.engine.services import Services
from risala.engine.webhooks.owed_calls import OwedCalls
from risala.plugins.face import CallsBack, FaceCall, FaceEvent
from risala.plugins.kinds import FACES

log = structlog.get_logger(__name__)

CONSUMER: Final = "faces"
TYPES: Final = (
    EventType.SMS_SENT,
    EventType.SMS_DELIVERED,
    EventType.SMS_FAILED,
    EventType.SMS_CANCELED,
)
EVENTS_AT_ONCE: Final = 500
WIDTHS: Final = Widths(per_endpoint=4, prompt=12, patient=4)
"""The most open calls: sixteen of those that the client makes at once beside webhooks."""
TIDY_S: Final = 3600.0
DAY_MS: Final = 86_400_000
_REVOKED: Final = "The credential is revoked."


@dataclass(frozen=True, slots=True)
class CallbackSources:
    faces: Mapping[str, CallsBack]
    """Faces that call back, by name."""
    credentials: Credentials
    cursors: EventCursors
    calls: CallbackRepository
    clock: Clock
    outbound: Outbound
    kept_days: int
    """How long events are kept; 0: forever."""
    items: ItemLoop
    """The loop that sets aside an event or a call that breaks."""
    jitter: Callable[[], float] = random.random


class CompatCallbacks(OwedCalls[CallToMake, ReceiverAnswer | ReceiverFault | None]):
    """A service; see the module's text."""

    name = "faces"
    receiver = "credential"

    def __init__(self, sources: CallbackSources) -> None:
        super().__init__(sources.calls, WIDTHS, sources.clock, sources.items)
        self._have = sources

    async def run(self) -> None:
        """Call until stopped; a stop waits a moment for open answers."""
        self._lanes = Lanes(WIDTHS)
        for credential, due_at in self._have.calls.waiting():
            self._lanes.expect(credential, due_at)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._follow)
            nursery.start_soon(self._keep_tidy)
            await self._serve(nursery)

    # -- writing down calls

    async def _follow(self) -> None:
        """Write down the calls that new events need."""
        cursor = await self._have.cursors.open(CONSUMER, types=TYPES)
        try:
            while True:
                events = await cursor.next(EVENTS_AT_ONCE)
                owed: list[OwedCall] = []
                for event in events:
                    with self._items.item(event.seq):
                        owed += self._asked(event.seq)
                if owed:
                    await self._items.together(owed, lambda call: call.event, self._owe)
                await cursor.keep(events[-1].seq)
        except Draining:
            await trio.sleep_forever()  # the stop is near; the next start reads on
        finally:
            self._have.cursors.close(CONSUMER)

    async def _owe(self, owed: Sequence[OwedCall]) -> None:
        now_ms = self._clock.now_ms()
        owe = partial(self._have.calls.owe, owed, now_ms)
        await retry_until_committed("faces", owe)
        for call in owed:
            self._lanes.expect(call.credential, now_ms)
        self._alarm.ring()

    def _asked(self, event: int) -> list[OwedCall]:
        """The call that an event needs; empty: no call."""
        candidate = self._have.calls.candidate(event)
        if candidate is None or self._call(candidate, _unsigned) is None:
            return []
        return [OwedCall(event, candidate.message, candidate.callback.credential)]

    def _call(self, made: CallToMake, sign: Callable[[bytes], bytes]) -> FaceCall | None:
        """The face's call; None: no call, or the face failed."""
        event, callback = made.event, made.callback
        credential = self._credential(callback.credential)
        face = None if credential is None else self._have.faces.get(credential.face)
        if credential is None or face is None:
            return None
        face_event = FaceEvent(
            event_id=made.event_id,
            at_ms=event.at,
            message_id=event.subject,
            to=event.recipient,
            sender=event.sender,
            status=event.status,
            error_code=event.error_code,
            carrier_code=event.carrier_code,
            provider_message_id=event.provider_message_id,
            username=credential.username,
        )
        try:
            return face.call(face_event, callback.url, callback.told, sign)
        except Exception as error:  # noqa: BLE001 -- a plugin's bug must not hold up other calls
            # Without its text, which may hold parts of the URL.
            log.error("faces.bug", face=credential.face, error=type(error).__name__)
            return None

    def _credential(self, credential_id: str) -> CompatCredential | None:
        try:
            return self._have.credentials.credential(credential_id)
        except NotFound:
            return None

    # -- making calls

    def _expect_new(self) -> None:
        """Nothing is new: :meth:`_follow` expects each call when it is written down."""

    async def _post(
        self, receiver_id: str, attempt: CallToMake
    ) -> ReceiverAnswer | ReceiverFault | None:
        """The result; None: the credential is revoked, or the customer no longer wants a call."""
        credential = self._credential(receiver_id)
        if credential is None or credential.revoked_at is not None:
            return None
        try:
            signer = self._have.credentials.signer(receiver_id)
        except SecretLost as error:
            return ReceiverFault("SECRET_LOST", str(error))
        sign = _unsigned if signer is None else partial(_signed, signer)
        call = self._call(attempt, sign)
        if call is None:
            return ReceiverFault("INTERNAL", "The face does not say whom to call.")
        return await self._have.outbound.post(
            WebhookCall(call.url, call.headers, call.body, call.method)
        )

    async def _finish(
        self, seq: int, attempt: CallToMake, seen: ReceiverAnswer | ReceiverFault | None
    ) -> bool:
        now_ms = self._clock.now_ms()
        calls, is_done = self._have.calls, True
        if seen is None:
            write = partial(calls.drop, seq, _REVOKED, now_ms)
        else:
            verdict = decide(seen, attempt.tries, now_ms, self._have.jitter())
            is_done = verdict.state == "delivered"
            write = partial(calls.finish, seq, verdict, now_ms)
            if verdict.state == "failed":
                log.warning("faces.call_failed", message_id=attempt.event.subject)
        # Retried until it is on disk: otherwise the call would be made again.
        await retry_until_committed("faces", write)
        return is_done

    async def _keep_tidy(self) -> None:
        """Delete the calls of events that are no longer kept."""
        while True:
            days = self._have.kept_days
            if days:
                before_ms = self._clock.now_ms() - days * DAY_MS
                try:
                    await self._have.calls.tidy(before_ms)
                except Unavailable as error:
                    log.warning("faces.storage", reason=str(error))
            await trio.sleep(TIDY_S)


def _signed(key: bytes, octets: bytes) -> bytes:
    # Twilio's scheme, which its libraries check: they know no other hash.
    return hmac.digest(key, octets, "sha1")


def _unsigned(_: bytes) -> bytes:
    return b""


def tasks(services: Services) -> Iterator[Task]:
    """What writes when credentials were used, and what calls back, if a face does."""
    credentials, around = services.part(Credentials), services.surroundings
    yield "credentials", credentials.uses.keep_writing, False
    plugged = around.plugged.get(FACES.key, {})
    faces = {name: face for name, face in plugged.items() if isinstance(face, CallsBack)}
    if not faces or around.outbound is None or around.cursors is None:
        return
    sources = CallbackSources(
        faces=faces,
        credentials=credentials,
        cursors=around.cursors,
        calls=services.repositories.part(CallbackRepository),
        clock=services.recorder.clock,
        outbound=around.outbound,
        kept_days=services.settings.retention.events_days,
        items=services.set_aside.loop("compat_calls"),
    )
    yield "faces' callbacks", CompatCallbacks(sources).run, True
