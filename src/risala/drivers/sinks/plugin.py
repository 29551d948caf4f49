"""Event sinks that are built in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio
from pydantic import BaseModel, ConfigDict, Field

from risala.dataclass import dataclass
from risala.drivers.sinks.mqtt import MQTT
from risala.plugins.command import CommandFactory
from risala.plugins.hookspecs import hookimpl
from risala.plugins.page import (
    ConsolePageFactory,
    PageBlock,
    PageFigures,
    PageService,
    PageTable,
    PageText,
)
from risala.plugins.sink import EventSinkFactory, SinkEvent, SinkUnavailableError

if TYPE_CHECKING:
    import click

# The state of event sinks, as a page of the console.

TITLE: Final = {"en": "Event sinks", "fr": "Récepteurs d’événements", "ar": "مستقبلات الأحداث"}
_STATES: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {"running": "running", "failing": "failing", "stuck": "stuck"},
    "fr": {"running": "en marche", "failing": "en échec", "stuck": "bloqué"},
    "ar": {"running": "يعمل", "failing": "يفشل", "stuck": "متوقف"},
}


@dataclass(frozen=True, slots=True)
class _Words:
    intro: str
    columns: tuple[str, ...]
    none: str
    waiting: str
    lost: str


_WORDS: Final = {
    "en": _Words(
        "Every event goes to each sink, at least once and in order. Events have phone numbers, and "
        "the texts that come in: whoever reads a sink’s other side reads them.",
        ("Sink", "State", "Taken", "Waiting", "Lost", "What is wrong"),
        "No event sink is configured.",
        "Events that wait",
        "Events that were lost",
    ),
    "fr": _Words(
        "Chaque événement va à chaque récepteur, au moins une fois et dans l’ordre. Un événement "
        "contient des numéros, et les textes reçus : qui lit l’autre côté d’un récepteur les lit.",
        ("Récepteur", "État", "Reçus", "En attente", "Perdus", "Ce qui ne va pas"),
        "Aucun récepteur d’événements n’est configuré.",
        "Événements en attente",
        "Événements perdus",
    ),
    "ar": _Words(
        "كل حدث يصل إلى كل مستقبل مرة واحدة على الأقل وبالترتيب. وفي الأحداث أرقام الهواتف "
        "والنصوص الواردة: من يقرأ الطرف الآخر للمستقبل يقرؤها.",
        ("المستقبل", "الحالة", "استلم", "ينتظر", "فُقد", "ما الخلل"),
        "لا يوجد مستقبل أحداث في الإعدادات.",
        "أحداث تنتظر",
        "أحداث فُقدت",
    ),
}


class SinksPage:
    """A :class:`risala.plugins.page.ConsolePage`."""

    async def show(self, service: PageService) -> Sequence[PageBlock]:
        words = _WORDS.get(service.language, _WORDS["en"])
        states = _STATES.get(service.language, _STATES["en"])
        sinks = (await service.look("statistics")).get("sinks", [])
        waiting = sum(each["behind"] or 0 for each in sinks)
        lost = sum(each["missed"] or 0 for each in sinks)
        return (
            PageText(words.intro),
            PageFigures(((words.waiting, waiting), (words.lost, lost))),
            PageTable(
                words.columns,
                tuple(
                    (
                        *(each["name"], states.get(each["state"], each["state"]), each["taken"]),
                        *(each["behind"], each["missed"], each["text"] or None),
                    )
                    for each in sinks
                ),
                words.none,
            ),
        )


# Every event as a line of JSON, into files that other programs follow, ship or load.
#
# Lines are appended to ``NAME.jsonl``. Once that exceeds a size it gets the time in its name, and
# a new one is begun; a limited number of old ones is kept. The lines are on the disk before the
# engine is notified. After a crash the last ones may be there twice, with the same event ``id``.
# The daily heads of the audit trail go to ``NAME.heads``.

MODE: Final = 0o600
"""Only the owner can read the files: events have numbers, and texts of inbound messages."""


class JsonlSettings(BaseModel):
    """``[sinks.NAME.jsonl]``."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    folder: Path
    """The folder of the files; it is made if missing."""
    rotate_bytes: int = Field(default=64_000_000, ge=1000)
    """A file that has grown so large is put aside."""
    keep: int = Field(default=0, ge=0)
    """How many that were put aside are kept, the newest; 0: all of them."""


class JsonlSink:
    """An :class:`risala.plugins.sink.EventSink` over files."""

    def __init__(self, name: str, settings: JsonlSettings) -> None:
        self._name = name
        self._settings = settings
        self._path = settings.folder / f"{name}.jsonl"

    async def take(self, events: Sequence[SinkEvent]) -> None:
        text = "".join(f"{each.body}\n" for each in events).encode()
        # In a thread, because a disk may take long. Not to be abandoned at a deadline: it would
        # continue to write while the same lines come again.
        try:
            await trio.to_thread.run_sync(self._write, text, events[0].seq)
        except OSError as error:
            reason = f"{error.filename or self._path} cannot be written: {error.strerror}."
            raise SinkUnavailableError(reason) from error

    async def take_audit_head(self, head: str) -> None:
        """Append a head of the audit trail to ``NAME.heads``, which is never put aside."""
        path = self._settings.folder / f"{self._name}.heads"
        try:
            await trio.to_thread.run_sync(self._append, path, f"{head}\n".encode())
        except OSError as error:
            reason = f"{error.filename or path} cannot be written: {error.strerror}."
            raise SinkUnavailableError(reason) from error

    def _append(self, path: Path, text: bytes) -> None:
        self._settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not path.exists()
        flags = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        with open(os.open(path, flags, MODE), "r+b", buffering=0) as file:
            _cut_half_line(file.fileno())
            _write_all(file.fileno(), text)
            os.fsync(file.fileno())
        if is_new:
            _sync_folder(self._settings.folder)

    def _write(self, text: bytes, seq: int) -> None:
        folder = self._settings.folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._path.exists() and self._path.stat().st_size >= self._settings.rotate_bytes:
            self._rotate(seq)
        is_new = not self._path.exists()
        flags = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        with open(os.open(self._path, flags, MODE), "r+b", buffering=0) as file:
            _cut_half_line(file.fileno())
            _write_all(file.fileno(), text)
            os.fsync(file.fileno())
        if is_new:
            _sync_folder(folder)

    def _rotate(self, seq: int) -> None:
        """Put the file aside, under the number of the first event that is not in it: names sort by
        time, and each is unique."""
        self._path.rename(self._path.with_name(f"{self._name}-{seq:019d}.jsonl"))
        _sync_folder(self._settings.folder)
        if self._settings.keep:
            aside = sorted(self._settings.folder.glob(f"{self._name}-{'[0-9]' * 19}.jsonl"))
            for old in aside[: -self._settings.keep]:
                old.unlink()


def _cut_half_line(descriptor: int) -> None:
    """Remove the incomplete line after a crash, or from a full disk: it comes again."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    keep = end
    while keep > 0:
        start = max(0, keep - 65_536)
        newline = os.pread(descriptor, keep - start, start).rfind(b"\n")
        keep = start if newline < 0 else start + newline + 1
        if newline >= 0:
            break
    if keep < end:
        os.ftruncate(descriptor, keep)


def _write_all(descriptor: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_folder(folder: Path) -> None:
    """Make the file's name durable too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


JSONL = EventSinkFactory(
    name="jsonl",
    settings=JsonlSettings,
    build=JsonlSink,
    summary="Into files, a line of JSON each, a new file from a size on",
)


PAGE = ConsolePageFactory(
    name="sinks",
    title=TITLE,
    build=SinksPage,
    summary="State of the event sinks",
)


def _sinks() -> click.Command:
    from risala.drivers.sinks.command import sinks

    return sinks


SINKS = CommandFactory(
    name="sinks",
    build=_sinks,
    summary="State of the event sinks",
)


@hookimpl
def risala_register_event_sinks(register: Callable[[EventSinkFactory], None]) -> None:
    register(JSONL)
    register(MQTT)


@hookimpl
def risala_register_commands(register: Callable[[CommandFactory], None]) -> None:
    register(SINKS)


@hookimpl
def risala_register_console_pages(register: Callable[[ConsolePageFactory], None]) -> None:
    register(PAGE)
