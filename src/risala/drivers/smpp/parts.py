"""People's messages, some of them in parts: nothing is answered before it is on disk.

A part alone cannot be stored as a message. It is kept as a note instead
(:meth:`DriverContext.remember`) and answered at once. When the last part is here the message is
stored, and its notes are deleted in the same transaction. A message that never becomes whole is
stored as it is, with ``[…]`` for missing parts: after :attr:`SmppParts.timeout_s`, or sooner when
too many wait.

At any crash, each part is with the carrier, in a note, or in a stored message:

::

    part noted ── answered ── … last part noted, with whole/ and storing/ ── answered
                                  │                                           │
                     stored, and all notes but whole/ deleted <───────────────┘

The note ``whole/…`` keeps for some minutes which parts a message had, so that a part that comes
again, because the carrier missed our answer, makes no second message. As long as the note
``storing/…`` exists too, the message is not stored yet.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

import trio

from risala.drivers.smpp.copies import ESME_RX_T_APPN, Unanswered
from risala.drivers.smpp.protocol.pdu import ShortMessage
from risala.drivers.smpp.protocol.submit import (
    DefaultAlphabet,
    MessagePdu,
    decode_message,
    readable_address,
)
from risala.drivers.smpp.protocol.times import parse_time
from risala.plugins.contract import (
    NOTE_TEXT_CHARACTERS_MAX,
    DriverContext,
    Inbound,
    NotStoredError,
)
from risala.sms.assembly import REPEATS_S, Assembler, Key, Part, Whole
from risala.sms.evident import InboundCoding, mms_notice
from risala.sms.message import Concatenation
from risala.sms.segment import join

_STORE_RETRY_S: Final = 5.0
"""Seconds from the disk's refusal to the next try to store a message whose parts were answered."""
NOTES_HELD_MAX: Final = 7000
"""Notes of parts; when there are more, the message that was touched longest ago is given up on."""
WHOLES_MAX: Final = 1400
"""Whole messages whose parts are still recognised when they come again."""
_ADDRESS_MAX: Final = 64
"""Characters of an address that are read: the longest one of the standard (data_sm)."""
_PART: Final = "part/"
_WHOLE: Final = "whole/"
_STORING: Final = "storing/"


def no_line(note: str, of: str) -> None:
    """For callers that keep no trace."""


class _Noted(NamedTuple):
    """The data kept in memory of a part, in addition to its text."""

    keys: tuple[str, ...]
    """The keys of the part's notes: one, or several if its text is long."""
    at_ms: int
    sent_ms: int | None = None
    """The text's own time, where the carrier tells it."""
    label: str | None = None
    """How the part was labelled, if that was not believed."""


class SmppParts:
    """Takes people's messages from the links: joins parts, has messages stored, and answers.

    Args:
        timeout_s: how long after its last part an incomplete message is given up on.
        coding: how texts are read.
        tell_reading: makes a line of the trace of a text that was not read as declared.
    """

    def __init__(
        self,
        context: DriverContext,
        timeout_s: float,
        default_alphabet: DefaultAlphabet,
        now_ms: Callable[[], int],
        coding: InboundCoding = InboundCoding.AUTO,
        tell_reading: Callable[[str, str], str | None] = no_line,
    ) -> None:
        self.timeout_s = timeout_s
        self._repeats_s = min(timeout_s, REPEATS_S)
        self._context = context
        self._default_alphabet = default_alphabet
        self._coding = coding
        self._tell_reading = tell_reading
        self._now_ms = now_ms
        self._assembler = Assembler(finished_max=WHOLES_MAX)
        self._held = 0
        self._ready: list[Whole] = []
        """Messages to be stored: given up on, found complete after a restart, or refused by the
        disk before."""
        self._unstored: set[Key] = set()
        """Keys of complete messages that are not stored yet, so that their notes must stay."""
        self._retry_s = -math.inf
        self._changed = trio.Event()
        self._recall()

    async def take(self, delivery: Unanswered) -> None:
        """Store a message, or note a part; then answer."""
        request = delivery.request
        decoded = decode_message(request, self._default_alphabet, self._coding)
        line = self._tell_reading(decoded.note, "text")
        if line is not None:
            self._context.trace(line)
        ends = (
            *(request.source_addr_ton, request.source_addr[:_ADDRESS_MAX]),
            *(request.dest_addr_ton, request.destination_addr[:_ADDRESS_MAX]),
        )
        place, whole, now_ms = decoded.concatenation, None, self._now_ms()
        sent_ms = written_ms(request, now_ms)
        label = None if decoded.label is None else str(decoded.label)
        try:
            if place is None or place.total == 1:
                noted = _Noted((), now_ms, sent_ms, label)
                message = _inbound(join([decoded.text]), ends, [noted])
                await self._context.inbound(message)
            else:
                whole = await self._note(decoded.text, place, ends, sent_ms, label)
        except NotStoredError:
            delivery.answer(ESME_RX_T_APPN)
            return
        delivery.answer()
        if whole is not None:
            await self._store(whole)
        given_up = self._assembler.give_way(at_once=self._held > NOTES_HELD_MAX)
        if given_up is not None:
            await self._give_up(given_up)

    async def run(self) -> None:
        """Store, until cancelled, the messages left over by a restart or a refusing disk, and those
        that never became whole."""
        while True:
            self._changed = trio.Event()
            if trio.current_time() >= self._retry_s:
                ready, self._ready = self._ready, []
                for whole in ready:
                    await self._store(whole)
            now_s = trio.current_time()
            for whole in self._assembler.take_repeated(now_s - self._repeats_s):
                await self._give_up(whole)
            for whole in self._assembler.take_older(now_s - self.timeout_s):
                await self._give_up(whole)
            with trio.move_on_at(self._next_s()):
                await self._changed.wait()

    def _next_s(self) -> float:
        waiting = (
            (self._assembler.oldest_s(), self.timeout_s),
            (self._assembler.oldest_repeated_s(), self._repeats_s),
        )
        # Shortly after the timeout: woken exactly then, a message could be a little too young.
        give_up = [since_s + wait_s + 0.001 for since_s, wait_s in waiting if since_s is not None]
        return min([*give_up, self._retry_s if self._ready else math.inf])

    # -- one part ----------------------------------------------------------------------------

    async def _note(
        self, text: str, place: Concatenation, ends: Key, sent_ms: int | None, label: str | None
    ) -> Whole | None:
        """Store a part; returns the message that it completes, or None.

        Raises:
            NotStoredError: the disk did not take the part, so the carrier keeps it.
        """
        now_s, now_ms = trio.current_time(), self._now_ms()
        key: Key = (place.reference, place.bits, place.total, *ends)
        displaced = self._assembler.displaced(key, place.number, text)
        before = self._assembler.held(key, place.number)
        noted = _Noted((), now_ms, sent_ms, label)
        notes: dict[str, str | None] = dict(_part_notes(key, place.number, text, noted))
        noted = noted._replace(keys=tuple(notes))
        # The part is joined before it is durable: several parts of a message may be on their way to
        # the disk at one time, and the last of them must find the others.
        whole = self._assembler.add(text, place, *ends, token=noted, now_s=now_s)
        if whole is not None and not whole.repeats:
            notes.update(self._completion(whole, now_s, now_ms))
            self._unstored.add(key)
        try:
            await self._context.remember(notes)
        except BaseException:
            # The part was not stored, or this task was cancelled: undo the joining. The carrier
            # got no answer and sends the part again.
            if whole is not None:
                if not whole.repeats:
                    self._unstored.discard(key)
                numbers = (part.number for part in whole.parts if part.token is not noted)
                self._assembler.put_back(whole, numbers, now_s)
            else:
                self._assembler.take_back(key, place.number, noted, before)
            raise
        finally:
            if displaced is not None:
                self._ready.append(displaced)
            self._changed.set()
        self._held += len(noted.keys) if before is None else 0
        return whole

    def _completion(self, whole: Whole, now_s: float, now_ms: int) -> dict[str, str | None]:
        """The notes that are written with a message's last part, and those that are deleted."""
        name = _name(whole.key)
        outdated = self._assembler.forget_finished(now_s)
        return {
            **{f"{_WHOLE}{_name(key)}": None for key in outdated},
            f"{_WHOLE}{name}": _json({"key": whole.key, "at": now_ms, "parts": whole.marks}),
            f"{_STORING}{name}": str(now_ms),
        }

    # -- whole messages ----------------------------------------------------------------------

    async def _give_up(self, whole: Whole) -> None:
        if not whole.repeats:
            came = len(whole.parts)
            self._context.trace(
                f"A message of {whole.segments} parts is incomplete: only {came} came."
            )
        await self._store(whole)

    async def _store(self, whole: Whole) -> None:
        """Store a message and delete its notes; if the disk refuses, try again later."""
        notes = [key for part in whole.parts for key in part.token.keys]
        storing = f"{_STORING}{_name(whole.key)}"
        try:
            if whole.repeats and whole.key in self._unstored:
                # Parts of a message that came again before it was stored: the notes are that
                # message's own, and are deleted with it.
                pass
            elif whole.repeats:
                await self._context.remember(dict.fromkeys(notes))
            else:
                message = _inbound(whole.text, whole.key[3:], [part.token for part in whole.parts])
                await self._context.inbound(message, forget=(*notes, storing))
                if whole.is_complete:
                    self._unstored.discard(whole.key)
        except NotStoredError:
            self._ready.append(whole)
            self._retry_s = trio.current_time() + _STORE_RETRY_S
            self._changed.set()
        else:
            self._held -= len(notes)

    # -- after a restart ---------------------------------------------------------------------

    def _recall(self) -> None:
        began_s, now_ms = trio.current_time(), self._now_ms()

        def then_s(at_ms: int) -> float:
            return began_s - max(0, now_ms - at_ms) / 1000

        storing = {key.removeprefix(_STORING) for key in self._context.recall(_STORING)}
        wholes = self._context.recall(_WHOLE).items()
        known = [json.loads(text) for key, text in wholes if key[len(_WHOLE) :] not in storing]
        for one in sorted(known, key=lambda one: one["at"]):
            marks = tuple(one["parts"])
            self._assembler.recall_finished(tuple(one["key"]), marks, then_s(one["at"]))
        parts = _noted_parts(self._context.recall(_PART))
        for key, number, text, noted in sorted(parts, key=lambda part: part[3].at_ms):
            reference, bits, total, *ends = key
            place = Concatenation(reference, total, number, bits)
            displaced = self._assembler.displaced(tuple(key), number, text)
            now_s = then_s(noted.at_ms)
            whole = self._assembler.add(text, place, *ends, token=noted, now_s=now_s)
            self._ready += [one for one in (displaced, whole) if one is not None]
            if whole is not None and not whole.repeats:
                self._unstored.add(whole.key)
            self._held += len(noted.keys)


def written_ms(request: MessagePdu, now_ms: int) -> int | None:
    """A text's own time, UTC epoch milliseconds. The standard has no field for it: carriers that
    tell it write it as an absolute time where a ``submit_sm`` has ``schedule_delivery_time``."""
    time = request.schedule_delivery_time if isinstance(request, ShortMessage) else ""
    if not time or time.endswith("R"):
        return None
    try:
        return parse_time(time, now_ms)
    except ValueError:
        return None


def _inbound(text: str, ends: Key, parts: Sequence[_Noted]) -> Inbound:
    source_ton, source, dest_ton, dest = ends
    sender = readable_address(source_ton, source)
    # A part that never came is a mark outside Latin-1: the notice is in the first one.
    notice = mms_notice(text.encode("latin-1", "replace"), sender)
    return Inbound(
        sender=sender,
        recipient=readable_address(dest_ton, dest) or None,
        text=text if notice is None else notice,
        received_at_ms=max(part.at_ms for part in parts),
        sent_at_ms=min((part.sent_ms for part in parts if part.sent_ms is not None), default=None),
        label=next((part.label for part in parts if part.label is not None), None),
    )


# -- notes -------------------------------------------------------------------------------------


def _json(value: object) -> str:
    # As ASCII (json's default): a part may end in half of a surrogate pair, which UTF-8 lacks.
    return json.dumps(value, separators=(",", ":"))


def _name(key: Key) -> str:
    return hashlib.sha256(_json(key).encode()).hexdigest()[:32]


def _part_notes(key: Key, number: int, text: str, noted: _Noted) -> Iterator[tuple[str, str]]:
    """The notes of a part: one, or several for a text longer than phones send."""
    known = {"sent": noted.sent_ms, "label": noted.label}
    optional = {name: value for name, value in known.items() if value is not None}
    whole = _json({"key": key, "number": number, "at": noted.at_ms, **optional, "text": text})
    size, mark = NOTE_TEXT_CHARACTERS_MAX, Part(number, text, None).mark
    for piece, at in enumerate(range(0, len(whole), size)):
        yield f"{_PART}{_name(key)}/{number:03}/{mark:08x}/{piece:03}", whole[at : at + size]


def _noted_parts(notes: dict[str, str]) -> Iterator[tuple[Any, int, str, _Noted]]:
    for _, pieces in groupby(notes.items(), key=lambda note: note[0].rpartition("/")[0]):
        keys, texts = zip(*pieces, strict=True)
        part = json.loads("".join(texts))
        noted = _Noted(keys, part["at"], part.get("sent"), part.get("label"))
        yield part["key"], part["number"], part["text"], noted
