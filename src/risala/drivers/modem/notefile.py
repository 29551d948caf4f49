"""Persistent notes of a modem. The engine's journal keeps them; where a modem is examined without
the engine, a file of its own does."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import trio

from risala.plugins.contract import NotStoredError

_NAME_DIGITS: Final = 16


class ModemNotes(Protocol):
    """The part of :class:`risala.plugins.contract.DriverContext` that keeps notes, whose methods
    are explained there."""

    async def remember(self, notes: Mapping[str, str | None]) -> None: ...

    def recall(self, prefix: str = "") -> dict[str, str]: ...


def short_name(number: str) -> str:
    """A unique name for an IMSI, ICCID or IMEI that does not reveal it; empty without a number."""
    return hashlib.sha256(number.encode()).hexdigest()[:_NAME_DIGITS] if number else ""


_OCTETS_MAX: Final = 1_000_000
"""Room for thousands of notes; a file that is longer is not one that we wrote."""


_NOTES: Final = ("risala", "modem-pins.json")
"""A file in the user's state directory for the SIMs whose PIN was typed and not confirmed."""


def notes_path() -> Path:
    """The path of the notes: by the XDG Base Directory Specification, or in /var/lib for a user
    without a home."""
    state = os.environ.get("XDG_STATE_HOME", "")
    home = os.environ.get("HOME", "")
    base = Path(state) if state else Path(home, ".local", "state") if home else Path("/var/lib")
    return base.joinpath(*_NOTES)


class NoteFile:
    """:class:`ModemNotes` as a JSON object, read and written whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def remember(self, notes: Mapping[str, str | None]) -> None:
        """Write notes; None deletes one. On disk when it returns.

        Raises:
            NotStoredError: the file cannot be written.
        """
        await trio.lowlevel.checkpoint()
        try:
            kept = {**self._read(), **notes}
            self._write({key: text for key, text in kept.items() if text is not None})
        except (OSError, ValueError) as error:
            raise NotStoredError(f"{self._path} cannot be written.") from error

    def recall(self, prefix: str = "") -> dict[str, str]:
        """The notes whose keys begin with ``prefix``; empty if the file cannot be read (then
        :meth:`remember` refuses too)."""
        try:
            kept = self._read()
        except (OSError, ValueError):
            return {}
        return {key: text for key, text in kept.items() if key.startswith(prefix)}

    def _read(self) -> dict[str, str]:
        try:
            with self._path.open("rb") as file:
                notes = json.loads(file.read(_OCTETS_MAX))
        except FileNotFoundError:
            return {}
        if not isinstance(notes, dict):
            raise ValueError("not an object")
        return {str(key): str(text) for key, text in notes.items()}

    def _write(self, notes: Mapping[str, str]) -> None:
        """Replace the file at once by one with these notes, which are on disk when this returns."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=self._path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(dict(notes), file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self._path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
