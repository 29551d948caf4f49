"""Strict Open XML: a workbook whose parts have other namespaces than those that openpyxl knows.

Excel offers it beside the usual form (ECMA-376 part 1 in place of part 4). What it says of rows and
cells is the same, so that its parts are read with the usual namespaces in their place.
"""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING, Final, Literal
from zipfile import ZipFile, ZipInfo

if TYPE_CHECKING:
    from typing_extensions import Buffer

_TRANSITIONAL: Final = {
    b"http://purl.oclc.org/ooxml/spreadsheetml/main": (
        b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    ),
    b"http://purl.oclc.org/ooxml/drawingml/main": (
        b"http://schemas.openxmlformats.org/drawingml/2006/main"
    ),
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": (
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    ),
}
"""The usual namespace by each one of the strict form (ECMA-376 part 4, annex A)."""
_BEGINS: Final = b"http://purl.oclc.org/ooxml/"
_LONGEST: Final = max(map(len, _TRANSITIONAL))
_PIECE: Final = 65_536


class TransitionalArchive(ZipFile):
    """An archive whose parts have the usual namespaces."""

    def open(
        self,
        name: str | ZipInfo,
        mode: Literal["r", "w"] = "r",
        pwd: bytes | None = None,
        *,
        force_zip64: bool = False,
    ) -> IO[bytes]:
        part = super().open(name, mode, pwd, force_zip64=force_zip64)
        return io.BufferedReader(_Transitional(part), _PIECE)


class _Transitional(io.RawIOBase):
    """A part as it is read: with other namespaces, also where one lies across two pieces."""

    def __init__(self, part: IO[bytes]) -> None:
        self._part = part
        self._rest = b""
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Buffer) -> int:
        room = memoryview(into)
        while not self._ready:
            piece = self._part.read(_PIECE)
            self._take(piece)
            if not piece:
                break
        size = min(len(room), len(self._ready))
        room[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _take(self, piece: bytes) -> None:
        text = self._rest + piece
        if _BEGINS in text:
            for strict, usual in _TRANSITIONAL.items():
                text = text.replace(strict, usual)
        # The end may be the beginning of a namespace: it waits for the next piece.
        end = max(0, len(text) - _LONGEST) if piece else len(text)
        self._ready, self._rest = text[:end], text[end:]

    def close(self) -> None:
        self._part.close()
        super().close()
