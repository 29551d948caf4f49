"""The files that carry a copy of the database to another machine.

::

    current.json                 which generation is the present one
    shipped.json                 up to which piece, and when the database was as it is in there
    gen-…/snapshot.db            a whole copy, which the pieces go upon
    gen-…/0000000001.piece       pages that changed: a line of JSON, then the pages, compressed

Each file appears whole or not at all. A piece names the checksum of the one before, so that none
can be missing, doubled or another's.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import struct
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.standby.stored.notes import (
    AT_MAX,
    NOTE_BYTES_MAX,
    BadPiece,
    checked,
    note_of,
    parsed,
)
from risala.engine.features.standby.stored.wal import Gap, WalPart
from risala.engine.journal.upkeep.database_copy import sync_directory

CURRENT: Final = "current.json"
SHIPPED: Final = "shipped.json"
SNAPSHOT: Final = "snapshot.db"
_NUMBER: Final = struct.Struct(">I")
_MEBIBYTE: Final = 1024 * 1024
RAW_BYTES_MAX: Final = 320 * _MEBIBYTE
"""Pages of one piece: what the write-ahead log may have when SQLite folds it in by itself, and a
quarter more. A primary that has more begins another whole copy."""
STORED_BYTES_MAX: Final = RAW_BYTES_MAX + _MEBIBYTE
"""The most bytes of a piece as it is stored: what cannot be compressed takes as much as it is."""
_PAGE_BYTES: Final = frozenset({0, *(1 << power for power in range(9, 17))})
"""Sizes that SQLite has; 0: there are no pages."""
_PAGES_MAX: Final = 0xFFFFFFFE
"""The most pages of a database."""
_GENERATION: Final = re.compile(r"[0-9A-Za-z-]{1,64}", re.ASCII)
_LEVEL: Final = 1
"""Level of zlib: half the size for a tenth of the time of the best level."""


@dataclass(frozen=True, slots=True)
class Current:
    generation: str
    sha256: str
    """The checksum of the snapshot."""


@dataclass(frozen=True, slots=True)
class Shipped:
    generation: str
    number: int
    at: int
    """UTC epoch milliseconds by the primary's clock: the copy has its whole disk of then."""


@dataclass(frozen=True, slots=True)
class PagePiece:
    number: int
    at: int
    page_bytes: int
    database_pages: int
    pages: Mapping[int, bytes]
    sha256: str
    """The checksum of the whole file."""


@dataclass(frozen=True, slots=True)
class _Head:
    """A piece's first line, in its own words."""

    generation: str
    number: int
    at: int
    pageBytes: int
    databasePages: int
    body: str
    """The checksum of the pages, compressed."""
    before: str


@dataclass(frozen=True, slots=True)
class EncodedPiece:
    """A piece as it is stored."""

    generation: str
    number: int
    at: int
    before: str
    """The checksum of the piece before it."""
    data: bytes
    sha256: str


def folder(directory: Path, generation: str) -> Path:
    return directory / f"gen-{generation}"


def name_of(now_ms: int) -> str:
    """The name of a generation that begins now; names are unique."""
    return f"{now_ms:013}-{secrets.token_hex(4)}"


def begun_at(generation: str) -> int:
    """When a generation began: its whole copy is of that time or a later one. 0: its name does not
    show it."""
    moment, _, _ = generation.partition("-")
    is_known = moment.isdecimal() and len(moment) <= len(str(AT_MAX))
    return min(int(moment), AT_MAX) if is_known else 0


def file_of(directory: Path, generation: str, number: int) -> Path:
    return folder(directory, generation) / f"{number:010}.piece"


def write(directory: Path, generation: str, number: int, at: int, part: WalPart, last: str) -> str:
    """Write a synced piece; returns its checksum.

    Args:
        last: the checksum of the piece before; for the first one, of the snapshot.
    """
    piece = encode(generation, number, at, part, last)
    put(file_of(directory, generation, number), piece.data)
    return piece.sha256


def encode(generation: str, number: int, at: int, part: WalPart, last: str) -> EncodedPiece:
    """A piece as it is stored.

    Args:
        last: the checksum of the piece before; for the first one, of the snapshot.

    Raises:
        Gap: there is too much for one piece.
    """
    raw = b"".join(_NUMBER.pack(page) + data for page, data in part.pages.items())
    if len(raw) > RAW_BYTES_MAX:
        raise Gap(f"{len(raw) // _MEBIBYTE} MiB are too much for a piece")
    body = zlib.compress(raw, _LEVEL)
    head = {
        "generation": generation,
        "number": number,
        "at": at,
        "pageBytes": part.page_bytes,
        "databasePages": part.database_pages,
        "body": hashlib.sha256(body).hexdigest(),
        "before": last,
    }
    data = json.dumps(head).encode() + b"\n" + body
    return EncodedPiece(generation, number, at, last, data, hashlib.sha256(data).hexdigest())


def read(directory: Path, generation: str, number: int, last: str) -> PagePiece | None:
    """A piece; None: it does not exist yet.

    Raises:
        BadPiece: it is not the next one.
    """
    path = file_of(directory, generation, number)
    try:
        with open(path, "rb") as file:
            data = file.read(STORED_BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    return decode(data, str(path), generation, number, last)


def decode(data: bytes, name: str, generation: str, number: int, last: str) -> PagePiece:
    """A piece out of what is stored.

    Args:
        name: what to call it in a sentence.
        last: the checksum of the piece before it.

    Raises:
        BadPiece: it is not the next one.
    """
    if len(data) > STORED_BYTES_MAX:
        raise BadPiece(f"{name} is damaged: it is larger than {STORED_BYTES_MAX // _MEBIBYTE} MiB.")
    end = data.find(b"\n", 0, NOTE_BYTES_MAX)
    if end < 0:
        raise BadPiece(f"{name} is damaged.")
    head, body = parsed(data[:end], name), memoryview(data)[end + 1 :]
    decoded = checked(_Head, head, name)
    expected = (generation, number, last, hashlib.sha256(body).hexdigest())
    if (decoded.generation, decoded.number, decoded.before, decoded.body) != expected:
        raise BadPiece(f"{name} does not follow the piece before it.")
    pages = _pages(body, decoded, name)
    sha256 = hashlib.sha256(data).hexdigest()
    return PagePiece(number, decoded.at, decoded.pageBytes, decoded.databasePages, pages, sha256)


def _pages(body: memoryview, head: _Head, name: str) -> dict[int, bytes]:
    """The pages, one after the other: what is compressed may be a thousand times as much.

    Raises:
        BadPiece: they are not those of one database, or too many.
    """
    if head.pageBytes not in _PAGE_BYTES or head.databasePages > _PAGES_MAX:
        raise BadPiece(f"{name} is damaged: its pages are of no size that SQLite has.")
    pages: dict[int, bytes] = {}
    unpacked, step, rest, size = zlib.decompressobj(), _NUMBER.size + head.pageBytes, b"", 0
    left: bytes | memoryview = body
    try:
        while not unpacked.eof:
            raw = unpacked.decompress(left, _MEBIBYTE)
            left = unpacked.unconsumed_tail
            if not raw and not left:
                break  # it is cut
            size += len(raw)
            if size > RAW_BYTES_MAX:
                raise BadPiece(f"{name} has more than {RAW_BYTES_MAX // _MEBIBYTE} MiB of pages.")
            rest += raw
            for offset in range(0, len(rest) - step + 1, step):
                _add_page(pages, rest[offset : offset + step], head, name)
            rest = rest[len(rest) // step * step :]
    except zlib.error as error:
        raise BadPiece(f"{name} is damaged.") from error
    if not unpacked.eof or rest or unpacked.unused_data:
        raise BadPiece(f"{name} ends within a page.")
    return pages


def _add_page(pages: dict[int, bytes], raw: bytes, head: _Head, name: str) -> None:
    (number,) = _NUMBER.unpack_from(raw)
    is_within = 1 <= number <= head.databasePages
    if not head.pageBytes or not is_within or number in pages:
        raise BadPiece(f"{name} is damaged: page {number} is not one of the database, or twice.")
    pages[number] = raw[_NUMBER.size :]


def put(path: Path, data: bytes) -> None:
    """Write a file (0600) that appears whole, and sync it."""
    partial = path.with_name(f".{path.name}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
    partial.replace(path)
    sync_directory(path.parent)


def put_note(path: Path, note: Current | Shipped) -> None:
    put(path, json.dumps(asdict(note)).encode())


def current(directory: Path) -> Current | None:
    path = directory / CURRENT
    note = note_of(path)
    return None if note is None else current_in(note, str(path))


def current_in(note: Mapping[str, Any], name: str) -> Current:
    """The generation that a note names.

    Raises:
        BadPiece: it is not what was written.
    """
    made = checked(Current, note, name)
    if _GENERATION.fullmatch(made.generation) is None:  # it becomes the name of a folder
        raise BadPiece(f"{name} is damaged: its generation is not what a primary writes.")
    return made


def shipped(directory: Path) -> Shipped | None:
    path = directory / SHIPPED
    note = note_of(path)
    return None if note is None else checked(Shipped, note, str(path))
