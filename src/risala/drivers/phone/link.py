"""A phone while the driver of its carrier runs: which one it is, whether it is there, and which
lines it has. Mostly there is one line; a second SIM is another carrier's, which finds the phone
among all that run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import trio

from risala.drivers.phone.devices import PhoneBook, RegisteredPhone
from risala.drivers.phone.events import PhoneEvents
from risala.drivers.phone.health import PhoneFacts, health_of
from risala.drivers.phone.line import PhoneLine
from risala.drivers.phone.settings import PhoneSettings
from risala.drivers.phone.words import StateReport
from risala.plugins.answering import SendPart
from risala.plugins.contract import DriverContext, Health

GRACE_S: Final = 20.0
"""A phone whose stream ended connects again after five seconds; so long it still counts as
there."""
LOOK_S: Final = 60.0
"""The longest between two looks at how the phone is."""
LOOK_SOON_S: Final = 0.01
"""The shortest: a moment is never hit exactly."""


class PhoneLink:
    """One life of a phone.

    Args:
        context: of the carrier whose phone it is.
        now_ms: UTC epoch milliseconds.
        grace_s: seconds without a stream in which the phone still counts as there.
    """

    def __init__(
        self,
        context: DriverContext,
        settings: PhoneSettings,
        now_ms: Callable[[], int],
        grace_s: float = GRACE_S,
    ) -> None:
        self.context = context
        self.settings = settings
        self.now_ms = now_ms
        token = None if settings.token is None else settings.token.get_secret_value()
        self.book = PhoneBook(context, token, now_ms)
        self.events = PhoneEvents(self._stream_changed)
        self.waiting_events = PhoneEvents(self.changed)
        """Streams of a phone that waits for the operator's yes."""
        self.strangers = 0
        self.clock_off_s = 0.0
        self.is_stalled = False
        """Whether the phone let the time for fetching a message pass."""
        self.ended = trio.Event()
        self._lines: dict[PhoneLine, Health | None] = {}
        """Each with the health that it has told last."""
        self._grace_s = grace_s
        self._began_s = self._heard_s = trio.current_time()
        self._seen_ms: int | None = None
        self._stream_ended_s = self._began_s
        self._changed = trio.Event()

    # -- whether it is there -----------------------------------------------------------------

    async def run(self) -> None:
        """Report how the phone is, until cancelled."""
        try:
            while True:
                looked, self._changed = self._changed, trio.Event()
                for line in self._lines:
                    self._publish(line)
                looked.set()
                with trio.move_on_after(self._next_look_s()):
                    await self._changed.wait()
        finally:
            self.events.close()
            self.waiting_events.close()
            for line in self._lines:
                line.end()
            self.ended.set()

    def changed(self) -> None:
        """Something of the phone changed: look how it is now."""
        self._changed.set()

    def _stream_changed(self) -> None:
        self._stream_ended_s = trio.current_time()
        self._changed.set()

    def heard(self, phone: RegisteredPhone) -> None:
        """The carrier's phone called."""
        if phone.id == self.phone_id:
            self._heard_s, self._seen_ms = trio.current_time(), self.now_ms()
            self._changed.set()

    @property
    def phone_id(self) -> str | None:
        """The id of the carrier's phone; None: it has none."""
        return None if self.book.phone is None else self.book.phone.id

    @property
    def proof_key(self) -> str:
        """Makes the ids that the phone gets, of all its lines."""
        return self.book.proof_key

    @property
    def last_seen_ms(self) -> int | None:
        """When the carrier's phone called last; None: not since the start, or since it was
        admitted."""
        return self._seen_ms

    @property
    def silent_s(self) -> float:
        """Seconds since it called last, or since the start."""
        return trio.current_time() - self._heard_s

    def phone_changed(self) -> None:
        """Begin anew: the former phone has lost its place to another one, or is forgotten."""
        self._seen_ms = None
        for line in self._lines:
            line.phone_changed()
        self.events.close()
        self.waiting_events.close()  # it connects again, as the carrier's phone
        self.changed()

    async def stream(self, phone_id: str, send: SendPart) -> None:
        """Send events to a phone that has just connected. Which ones is decided when the stream
        begins: the operator may have let the phone in since it asked for it."""
        events = self.events if phone_id == self.phone_id else self.waiting_events
        await events.write(send)

    async def wait_change(self) -> None:
        """Wait until somebody looks how the phone is: something may have changed."""
        await self._changed.wait()

    def health(self, line: PhoneLine) -> Health:
        """How a line of the phone is now."""
        graced = trio.current_time() - self._stream_ended_s < self._grace_s  # also at the start
        return health_of(
            PhoneFacts(
                carrier=self.context.carrier,
                phone=self.book.phone,
                candidate=self.book.candidate,
                sim=line.sim,
                number=line.settings.number,
                is_listening=self.events.is_open or graced,
                has_called=self._seen_ms is not None,
                silent_s=self.silent_s,
                silent_after_s=self.settings.silent_after_s,
                is_stalled=self.is_stalled,
                last_seen_ms=self._seen_ms,
                clock_off_s=self.clock_off_s,
                in_hand=line.messages.waiting,
                today=line.quota.today(self.now_ms()),
                strangers=self.strangers,
            )
        )

    def _publish(self, line: PhoneLine) -> None:
        if (health := self.health(line)) != self._lines[line]:
            self._lines[line] = health
            line.context.health(health)

    def _next_look_s(self) -> float:
        now_s = trio.current_time()
        ends = (
            self._heard_s + self.settings.silent_after_s,
            self._stream_ended_s + self._grace_s,
        )
        waits = [end - now_s for end in ends if end > now_s]
        return max(LOOK_SOON_S, min([LOOK_S, *waits]))

    # -- its lines -----------------------------------------------------------------------------

    @contextmanager
    def serving(self, line: PhoneLine) -> Iterator[None]:
        """Within this context the phone has this line."""
        self._lines[line] = None
        self.changed()
        try:
            yield
        finally:
            line.end()
            del self._lines[line]
            self.changed()

    def line_of(self, sim: int | None) -> PhoneLine | None:
        """The line that a received text is for: that of its SIM, else the one that names none.

        Args:
            sim: None: the phone did not say.
        """
        own = [line for line in self._lines if sim is not None and line.sim == sim]
        rest = [line for line in self._lines if sim is None or line.sim is None]
        return next(iter([*own, *rest]), None)

    async def take(self, phone: RegisteredPhone) -> list[dict[str, object]]:
        """What a phone gets when it fetches, of all lines.

        Raises:
            NotStoredError: it could not be written that the phone has them; nothing leaves then.
        """
        if phone.id != self.phone_id:
            return []  # it waits for the operator's yes
        self.is_stalled = False
        messages: list[dict[str, object]] = []
        for line in [*self._lines]:
            messages += await line.take(phone.id)
        return messages

    async def reported(self, phone: RegisteredPhone, reports: Sequence[StateReport]) -> None:
        """Take over what a phone reports of its messages.

        Raises:
            NotStoredError: it has to report again.
        """
        if phone.id != self.phone_id:
            return
        for report in reports:
            for line in [*self._lines]:
                if (submit := line.ids.read(report.id)) is not None:
                    await line.reported(phone.id, report, submit)


class PhoneAccount:
    """The phones that run now, by the carrier whose phone each is: what the service builds once for
    all drivers of phones."""

    def __init__(self) -> None:
        self._links: dict[str, PhoneLink] = {}
        self._changed = trio.Event()

    async def run(self) -> None:
        """Live until cancelled: all that is open is a driver's."""
        await trio.sleep_forever()

    @contextmanager
    def having(self, link: PhoneLink) -> Iterator[None]:
        """Within this context the lines of a carrier's phone may share it."""
        carrier = link.context.carrier
        self._links[carrier] = link
        self._change()
        try:
            yield
        finally:
            del self._links[carrier]
            self._change()

    def link_of(self, carrier: str) -> PhoneLink | None:
        """The phone of a carrier; None: its driver does not run."""
        return self._links.get(carrier)

    async def wait_link(self, carrier: str) -> PhoneLink:
        """Wait until a carrier's driver runs; its phone."""
        while (link := self._links.get(carrier)) is None:
            await self._changed.wait()
        return link

    def _change(self) -> None:
        changed, self._changed = self._changed, trio.Event()
        changed.set()
