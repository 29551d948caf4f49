"""Segments on their way out: one at a time, each to an outcome that is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

import trio

from risala.drivers.modem.at.causes import outcome_of
from risala.drivers.modem.at.engine import Answer, Row
from risala.drivers.modem.at.errors import ErrorMeaning, ErrorVerdict, trouble_of
from risala.drivers.modem.at.fields import first, number
from risala.drivers.modem.card.quota import Counted
from risala.drivers.modem.card.tally import QuotaTally
from risala.drivers.modem.inbound.inbox import ModemInbox
from risala.drivers.modem.inbound.parts import ModemParts
from risala.drivers.modem.inbound.reports import SentLog
from risala.drivers.modem.ready.pin import Unready
from risala.drivers.modem.ready.pinmemory import PinMemory
from risala.drivers.modem.ready.start import Facts
from risala.drivers.modem.settings import ModemSettings
from risala.drivers.modem.talk.asking import Asker
from risala.drivers.modem.talk.link import LinkError, PortLostError, StoppedError
from risala.drivers.modem.tpdu.pdu import Submit, TpAddress, UserData, to_hex
from risala.drivers.modem.tpdu.tpfields import relative_code
from risala.plugins.contract import (
    Accepted,
    Cause,
    HealthState,
    NotStoredError,
    Outcome,
    Refused,
    Segment,
    Uncertain,
    Unsent,
)
from risala.sms.segment import user_data_header

_BUSY: Final = Unsent("", "The modem is busy with other commands; nothing was sent.", Cause.BUSY)


@dataclass(slots=True)
class Records:
    """State kept while the port is reopened: sends whose reports may come, the SIM's quota, parts
    of messages, the PIN's memory."""

    log: SentLog
    tally: QuotaTally
    parts: ModemParts
    pin: PinMemory
    late: Callable[[Segment, Outcome], None]
    """Called with the outcome of a submit whose caller no longer waits."""
    now_ms: Callable[[], int]


@dataclass(slots=True)
class _Job:
    segment: Segment
    pdu: str = field(repr=False)
    tpdu_octets: int
    started: trio.Event = field(default_factory=trio.Event)
    done: trio.Event = field(default_factory=trio.Event)
    outcome: Outcome | None = None
    has_left: bool = False
    is_abandoned: bool = False
    """The caller no longer waits."""
    counted: Counted | None = None
    """The quota's count for it, before it left."""


class ModemSender:
    """Sends segments through one modem, one after the other, as long as its port stays open.

    Args:
        why: what more there is to say of an error; empty if nothing.
    """

    def __init__(
        self,
        asker: Asker,
        facts: Facts,
        inbox: ModemInbox,
        settings: ModemSettings,
        records: Records,
        why: Callable[[ErrorMeaning], str],
    ) -> None:
        self._asker = asker
        self._why = why
        self._facts = facts
        self._inbox = inbox
        self._settings = settings
        self._records = records
        self._put, self._take = trio.open_memory_channel[_Job](1)
        self._job: _Job | None = None
        self._ended_by: LinkError | Unready | None = None

    def end(self, fault: LinkError | Unready) -> None:
        """Called with why the session ended, before :meth:`run` is cancelled; not at a stop."""
        self._ended_by = fault

    async def submit(self, segment: Segment) -> Outcome:
        """Send a segment, and wait for the answer; bounded in time.

        Raises:
            PduError: no PDU can carry it.
        """
        tpdu = submit_of(segment, self._records.now_ms(), status_report=self._settings.reports)
        job = _Job(segment, *to_hex(tpdu))
        await trio.lowlevel.checkpoint()  # a caller that is cancelled already sends nothing
        try:
            self._put.send_nowait(job)
        except (trio.WouldBlock, trio.BrokenResourceError):
            return _BUSY
        try:
            with trio.move_on_after(self._settings.send_timeout_s):
                await job.started.wait()
            if not job.started.is_set():
                job.is_abandoned = True
                return _BUSY
            await job.done.wait()
        except trio.Cancelled:
            job.is_abandoned = True
            raise
        assert job.outcome is not None
        return job.outcome

    async def run(self) -> None:
        """Serve until the modem does not answer: then raises LinkError or Unready."""
        try:
            async for job in self._take:
                self._job = job
                if not job.is_abandoned and await self._count(job):
                    await self._send(job)
                self._job = None
        finally:
            self._settle_rest()
            self._take.close()

    def _settle_rest(self) -> None:
        """Settle the jobs that are left when the session ends: the one whose PDU has left is
        uncertain, the others were not sent."""
        fault = self._ended_by or StoppedError("the service was stopped")
        job = self._job
        if job is not None and job.outcome is None:
            if job.has_left:
                self._uncertain(job, fault)
            else:
                self._settle(job, _unsent(fault))
        for job in _drain(self._take):
            self._settle(job, _unsent(fault))

    # -- one segment -----------------------------------------------------------------------------

    async def _count(self, job: _Job) -> bool:
        """Count a segment in the quota, on disk. False if that failed: the segment must not leave
        then, and is settled as unsent."""
        try:
            job.counted = await self._records.tally.count(job.segment)
        except NotStoredError:
            text = "The attempt could not be recorded; nothing was sent."
            self._settle(job, Unsent("", text, Cause.BUSY))
            return False
        return True

    async def _send(self, job: _Job) -> None:
        try:
            await self._inbox.catch_up()
            answer = await self._attempt(job)
            if _is_full(answer):
                await self._inbox.make_room()
                job.has_left = False  # the modem refused it for want of room: it was not sent
                answer = await self._attempt(job)
        except LinkError as fault:
            if job.has_left and _was_accepted(fault.rows):
                self._accept(job, fault.rows)
            elif job.has_left:
                self._uncertain(job, fault)
            else:
                self._settle(job, _unsent(fault))
            raise
        self._refused(job, answer)

    async def _attempt(self, job: _Job) -> Answer | None:
        """Send once; None if the job is settled (accepted, or abandoned), else the refusal."""
        segment = job.segment
        async with self._asker.link.turn():
            await self._asker.fall_in_step()
            if self._facts.more_messages and segment.number < segment.total:
                # Keeps the radio link for the next part (27.005 §3.5.6).
                await self._asker.ok("AT+CMMS=1")
            if job.is_abandoned:
                # While other commands had the modem, the submit was answered as unsent or was
                # cancelled: the segment must not leave now.
                self._settle(job, _BUSY)
                return None
            job.started.set()
            answer = await self._asker.link.send_message(
                job.pdu,
                job.tpdu_octets,
                prompt_s=self._settings.prompt_timeout_s,
                answer_s=self._settings.send_timeout_s,
                on_leave=lambda: _leave(job),
            )
            if answer.result.ok or _was_accepted(answer.rows):
                # Accepted within the turn: a status report that came before this answer waits for
                # the turn, and must find the reference.
                self._accept(job, answer.rows)
                return None
            return answer

    def _accept(self, job: _Job, rows: tuple[Row, ...]) -> None:
        fields = first(rows, "+CMGS")
        reference = number(fields[0]) if fields else None
        recipient = job.segment.recipient
        carrier_id = self._records.log.accepted(reference, recipient, self._records.now_ms())
        self._settle(job, Accepted(carrier_id, _word(rows, reference)))

    def _uncertain(self, job: _Job, fault: LinkError | Unready) -> None:
        text = f"The message was submitted; then {_clause(fault)}."
        outcome = Uncertain("", text, cause=_cause(fault, has_left=True))
        self._settle(job, self._remembered(job, outcome))

    def _remembered(self, job: _Job, outcome: Uncertain) -> Uncertain:
        """The outcome with a carrier_id, by which a status report can be matched to it, even after
        a restart."""
        name = self._records.log.uncertain(job.segment, self._records.now_ms())
        return replace(outcome, carrier_id=name)

    def _refused(self, job: _Job, answer: Answer | None) -> None:
        if answer is None:
            return
        outcome = outcome_of(answer.result, has_left=job.has_left)
        trouble = trouble_of(answer.result)
        if isinstance(outcome, Uncertain):
            outcome = self._remembered(job, outcome)
        elif isinstance(outcome, Refused) and (why := self._why(trouble)):
            outcome = replace(outcome, text=why)
        self._settle(job, outcome)
        if trouble.sick:
            raise Unready(HealthState.SICK, trouble.text)

    def _settle(self, job: _Job, outcome: Outcome) -> None:
        job.outcome = outcome
        if job.counted is not None and not job.has_left:
            self._records.tally.give_back(job.counted)
        job.started.set()
        job.done.set()
        if job.is_abandoned and job.has_left:
            self._records.late(job.segment, outcome)


def _unsent(fault: LinkError | Unready) -> Unsent:
    text = _clause(fault)
    text = f"{text[:1].upper()}{text[1:]}; nothing was sent."
    return Unsent("", text, _cause(fault, has_left=False))


def _clause(fault: LinkError | Unready) -> str:
    return str(fault).rstrip(".")


def _cause(fault: LinkError | Unready, *, has_left: bool) -> Cause:
    match fault:
        case StoppedError():
            return Cause.SERVICE_STOPPED if has_left else Cause.LINK_DOWN
        case PortLostError():
            return Cause.LINK_LOST if has_left else Cause.LINK_DOWN
        case _:
            return Cause.NO_ANSWER if has_left else Cause.DEVICE_FAULT


def _leave(job: _Job) -> None:
    job.has_left = True


def _is_full(answer: Answer | None) -> bool:
    return answer is not None and trouble_of(answer.result).verdict is ErrorVerdict.FULL


def _was_accepted(rows: tuple[Row, ...]) -> bool:
    """Whether the network took the message: ``+CMGS:`` came, regardless of the rest of the
    answer."""
    return any(row.text.upper().startswith("+CMGS") for row in rows)


def _word(rows: tuple[Row, ...], reference: int | None) -> str:
    """The modem's own answer when it took a message, limited to its text."""
    if reference is not None:
        return f"+CMGS: {reference}"
    return "+CMGS without a reference" if _was_accepted(rows) else "OK without +CMGS"


def _drain(channel: trio.MemoryReceiveChannel[_Job]) -> list[_Job]:
    jobs: list[_Job] = []
    while True:
        try:
            jobs.append(channel.receive_nowait())
        except (trio.WouldBlock, trio.EndOfChannel, trio.ClosedResourceError):
            return jobs


def submit_of(segment: Segment, now_ms: int, *, status_report: bool) -> Submit:
    """Raises :class:`~risala.drivers.modem.tpdu.pdu.PduError` if the alphabet cannot carry it.

    The requested sender is ignored: the SIM's number is the sender.
    """
    header = b""
    place = segment.place
    if place is not None:
        header = user_data_header(place.reference, place.total, place.number)
    return Submit(
        destination=TpAddress.of_number(segment.recipient),
        user_data=UserData.of_text(
            segment.units, segment.alphabet, header=header, message_class=segment.message_class
        ),
        validity=relative_code((segment.expires_at_ms - now_ms) / 60_000),
        status_report=status_report,
    )
