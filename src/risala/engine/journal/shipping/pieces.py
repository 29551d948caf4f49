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
import secrets
import struct
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal.shipping.wal import WalPart
from risala.engine.journal.upkeep.backup import sync_directory

CURRENT: Final = "current.json"
SHIPPED: Final = "shipped.json"
SNAPSHOT: Final = "snapshot.db"
_NUMBER: Final = struct.Struct(">I")
_LEVEL: Final = 1
"""Level of zlib: half the size for a tenth of the time of the best level."""


class BadPiece(Exception):
    """A file is not what was written; the sentence names it."""


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
    return int(moment) if moment.isdecimal() else 0


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
    """
    raw = b"".join(_NUMBER.pack(page) + data for page, data in part.pages.items())
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
        data = path.read_bytes()
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
    try:
        line, _, body = data.partition(b"\n")
        head = json.loads(line)
        wanted = (generation, number, last, hashlib.sha256(body).hexdigest())
        if (head["generation"], head["number"], head["before"], head["body"]) != wanted:
            raise BadPiece(f"{name} does not follow the piece before it.")
        raw, step = zlib.decompress(body), _NUMBER.size + head["pageBytes"]
        if len(raw) % step:
            raise BadPiece(f"{name} ends within a page.")
        pages = {
            _NUMBER.unpack_from(raw, offset)[0]: raw[offset + _NUMBER.size : offset + step]
            for offset in range(0, len(raw), step)
        }
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise BadPiece(f"{name} is damaged.") from error
    sha256 = hashlib.sha256(data).hexdigest()
    return PagePiece(number, head["at"], head["pageBytes"], head["databasePages"], pages, sha256)


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
    found = note_of(directory / CURRENT)
    return None if found is None else Current(**found)


def shipped(directory: Path) -> Shipped | None:
    found = note_of(directory / SHIPPED)
    return None if found is None else Shipped(**found)


def note_of(path: Path) -> dict[str, Any] | None:
    """The content of a JSON file; None: it does not exist."""
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise BadPiece(f"{path} is damaged.") from error
    return found
