"""Remembers on disk that a PIN was typed or refused, because three wrong ones block a SIM.

Nothing of the PIN itself is kept, not even a hash: with only 10,000 PINs the right one is quickly
found from any hash. So a corrected setting looks the same as the wrong one, and the memory is
cleared only by proof that it is out of date: the SIM is ready; its counter of tries is full again,
which takes the right PIN; or the operator confirms it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from risala.drivers.modem.notefile import ModemNotes, short_name
from risala.drivers.modem.ready.identity import Identity
from risala.plugins.contract import NotStoredError

_PREFIX: Final = "pin/"
_NOBODY: Final = "-"
"""Replaces the name of an unidentified SIM or modem in a note's key."""
_TYPED: Final = "typed"
"""A note's text for a PIN that was typed and not yet seen to be right."""
_REFUSED: Final = "refused"
_AGAIN: Final = "-again"
"""Ends a note's text for the second PIN in a row without a counter of remaining tries: a third one
may block the SIM."""
FRESH_TRIES: Final = 3


class _Forgetful:
    """Notes that are forgotten when the process ends."""

    async def remember(self, notes: Mapping[str, str | None]) -> None:
        pass

    def recall(self, prefix: str = "") -> dict[str, str]:
        return {}


class PinMemory:
    """The typed and refused PINs: by SIM, or by modem if a SIM does not report its ICCID before it
    has its PIN.

    Without ``notes`` the memory lasts as long as the process.
    """

    def __init__(self, notes: ModemNotes | None = None) -> None:
        self._notes: ModemNotes = notes or _Forgetful()
        self._known = self._notes.recall(_PREFIX)
        self._unwritten: dict[str, str | None] = {}
        self._before: dict[str, str | None] = {}
        self.may_retry = False
        """The operator confirms that the PIN in the settings is right now: good for one try."""
        self.must_store = True
        """False: a PIN may be typed even if that cannot be stored. For an examination without a
        place to write; the SIM's own counter of tries must suffice there."""

    @property
    def has_notes(self) -> bool:
        """Whether some PIN was typed and never seen to be right."""
        return bool(self._known or self._unwritten)

    def retry(self) -> None:
        """Type the PIN of the settings once more, whatever the last result was."""
        self.may_retry = True

    def forbids(self, identity: Identity, tries: int | None) -> bool:
        """True if a PIN was refused, or its answer never seen, and no later sign is in its favour.

        Args:
            tries: the remaining tries by the SIM's own counter; None if unknown.
        """
        return not self.may_retry and any(
            not _is_mended(self._known[key], tries) for key in self._keys(identity)
        )

    def is_last(self, identity: Identity, tries: int | None) -> bool:
        """True if two PINs were typed, neither was confirmed, and no counter reports the remaining
        tries: a third PIN may block the SIM."""
        return tries is None and any(
            self._known[key].endswith(_AGAIN) for key in self._keys(identity)
        )

    async def types(self, identity: Identity, tries: int | None = None) -> None:
        """Store that a PIN is about to be typed.

        Args:
            tries: the remaining tries by the SIM's counter; None if unknown, and the PINs typed are
                counted here instead.

        Raises:
            NotStoredError: the disk did not take it, so that the PIN must not be typed.
        """
        self.may_retry = False
        keys = self._keys(identity)
        word = _TYPED + _AGAIN if keys and tries is None else _TYPED
        notes = {**dict.fromkeys(keys), _key(identity): word}
        self._before = {key: self._known.get(key) for key in notes}
        try:
            await self._notes.remember({**self._unwritten, **notes})
            self._unwritten.clear()
        except NotStoredError:
            if self.must_store:
                raise
        self._take(notes)

    async def untyped(self) -> None:
        """Store what was stored before :meth:`types`: the PIN surely did not reach the SIM."""
        await self._write(self._before)

    async def refused(self, identity: Identity, tries: int | None) -> None:
        """Store that the PIN was refused, and the remaining tries by the counter afterwards."""
        key = _key(identity)
        again = _AGAIN if self._known.get(key, "").endswith(_AGAIN) else ""
        text = f"{_REFUSED}{again}" if tries is None else f"{_REFUSED} {tries}"
        await self._write({key: text})

    async def unlocked(self, identity: Identity) -> None:
        """Delete the notes of this SIM: it is ready, so the PIN is right now."""
        self.may_retry = False
        await self._write(dict.fromkeys(self._keys(identity)))

    async def _write(self, notes: Mapping[str, str | None]) -> None:
        self._take(notes)
        self._unwritten.update(notes)
        # If the disk refuses, the notes are written with the next ones. Until then "typed" is on
        # disk, which forbids a second try as well.
        with suppress(NotStoredError):
            await self._notes.remember(dict(self._unwritten))
            self._unwritten.clear()

    def _take(self, notes: Mapping[str, str | None]) -> None:
        for key, text in notes.items():
            if text is None:
                self._known.pop(key, None)
            else:
                self._known[key] = text

    def _keys(self, identity: Identity) -> list[str]:
        """The notes that may be about this SIM."""
        sim, modem = short_name(identity.iccid), short_name(identity.imei)
        keys = []
        for key in self._known:
            its_sim, its_modem = key.removeprefix(_PREFIX).split("/")
            if sim and its_sim != _NOBODY:
                is_it = sim == its_sim
            else:
                is_it = not modem or its_modem in (modem, _NOBODY)
            if is_it:
                keys.append(key)
        return keys


def _key(identity: Identity) -> str:
    sim, modem = short_name(identity.iccid), short_name(identity.imei)
    return f"{_PREFIX}{sim or _NOBODY}/{modem or _NOBODY}"


def _is_mended(text: str, tries: int | None) -> bool:
    """True if the SIM's counter was lower right after the refusal and is full again now, which
    takes the right PIN.

    A counter that still had 3 right after a refusal does not count down, and is ignored.
    """
    word, _, then = text.partition(" ")
    return word == _REFUSED and bool(then) and int(then) < FRESH_TRIES == tries
