"""What a file is and how its characters are written, from its bytes alone. Pure.

Spreadsheets write UTF-8 with a mark or without one, UTF-16 ("Unicode text"), and the alphabet of
the machine's language: Windows-1252 in French, Windows-1256 in Arabic, Mac OS Roman ("CSV
(Macintosh)"), code page 850 ("CSV (MS-DOS)"). In Windows-1256, words are in bytes above 0x7F alone;
in the others such bytes stand between letters of ASCII: in Windows-1252 from 0xC0 on, in Mac OS
Roman and code page 850 before 0xA0. Of these two other bytes are capitals, which stand behind no
small letter.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from risala.engine.features.tables.rules.faults import TableFault, UnreadableTable

UTF_8: Final = "utf-8"
UTF_16: Final = "utf-16"
LATIN: Final = "windows-1252"
ARABIC: Final = "windows-1256"
MAC: Final = "macintosh"
"""The name by which IANA registers Mac OS Roman."""
DOS: Final = "ibm850"
"""The name by which IANA registers code page 850; in its letters 437 is the same."""
ENCODINGS: Final = (UTF_8, UTF_16, LATIN, ARABIC, MAC, DOS)
"""What can be chosen, in the order of a list."""
WEIGHED_BYTES: Final = 2_000_000
"""How many bytes of a file are weighed to tell Windows-1252 from Windows-1256; the whole file is
looked through for what is not UTF-8."""
LINE_BYTES: Final = 4096
"""How many bytes of a line wait for its end to be weighed."""
ZEROS_MIN: Final = 4
"""How many NULs, all in one half of the bytes, are the upper halves of UTF-16; fewer are strays."""

_MARKS_OF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PICTURES: Final = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"II*\0", b"MM\0*", b"\0\0\1\0")
_DOCUMENTS: Final = (b"%PDF", b"{\\rtf", b"\x1f\x8b", b"Rar!", b"7z\xbc\xaf", b"\x7fELF", b"SQLite")
_WEB_PAGE: Final = re.compile(rb"\s*<(!doctype|html|\?xml|table|svg)", re.IGNORECASE)
ZIP: Final = b"PK\x03\x04"
"""How a workbook begins, as each archive does."""
OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How an old workbook begins, and a new one with a password ([MS-CFB] 2.2)."""
ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
"""The stream in which a workbook with a password lies ([MS-OFFCRYPTO] 2.3.4.4)."""

_OTHER_CODECS: Final = {MAC: "mac-roman", DOS: "cp850"}
_HIGH: Final = bytes(range(0x80, 0x100))
_ARABIC_LETTERS: Final = bytes(
    each
    for each in _HIGH
    if "\u0600" <= bytes((each,)).decode("cp1256") <= "\u06ff"
    and bytes((each,)).decode("cp1256").isalpha()
)
_LETTERS: Final = bytes(
    each
    for each in _HIGH
    if each in _ARABIC_LETTERS or bytes((each,)).decode("cp1252", "replace").isalpha()
)
_runs: Final = re.compile(b"[A-Za-z]?[" + re.escape(_LETTERS) + b"]+[A-Za-z]?").findall
"""Letters above 0x7F that stand together, with the letter of ASCII on each side."""
_mac_letters: Final = re.compile(
    rb"(?<=[A-Za-z])[\x80-\x8b\x8d-\x91\x93-\x9b\x9d-\x9f](?=[A-Za-z])"
    rb"|(?<=[A-Za-z])[\x81\x83\x8a\x8d-\x90\x9d-\x9f]|[\x81\x83\x8a\x8d-\x90\x9d-\x9f](?=[A-Za-z])"
).findall
"""Letters of Mac OS Roman inside a word. In Windows-1252 they are signs, which stand beside words
(quotation marks, an ellipsis), nothing, or rare letters; ``’``, ``œ`` and ``Œ`` are left out."""
_dos_letters: Final = re.compile(
    rb"(?<=[a-z])[\x81-\x84\x86](?=[^\x80-\xff])|(?<=[a-z])[\x85\x87](?=[a-z])"
    rb"|(?<=[a-z])[\xa1-\xa5](?=[a-z])|(?<=[A-Z])[\x81-\x84](?=[a-z])|(?<=[A-Z])\x90(?![a-z])"
).findall
"""Small letters of code page 850 inside a word, where Mac OS Roman has capitals and Windows-1252
has signs; and ``É`` among capitals."""
_no_dos_letters: Final = re.compile(
    rb"(?<=[a-z])[\x8e\x8f\x90\x99\x9a\x9d]|(?<=[A-Z])[\x8e\x8f\x90\x99\x9a](?=[a-z])"
    rb"|(?<=[A-Z])[\x82\x83](?=[A-Z])"
).findall
"""The reverse: small letters of Mac OS Roman where code page 850 has capitals."""
_latin_letters: Final = re.compile(
    rb"(?<=[A-Za-z])[\xc0-\xc6\xcb-\xcf\xd6\xd8-\xff]|[\xc0-\xc6\xcb-\xcf\xd6\xd8-\xff](?=[A-Za-z])"
).findall
"""Letters of Windows-1252 inside a word that are no punctuation of Mac OS Roman."""
_has_ascii: Final = re.compile(rb"[A-Za-z]").search
_sequences: Final = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
).findall
"""What are characters of UTF-8 beyond ASCII."""
_CONTROLS: Final = bytes(each for each in range(1, 0x20) if each not in b"\t\n\v\f\r\x1a\x1b")
"""What no text has, without NUL and what old programs write."""


class FoundEncoding(NamedTuple):
    name: str
    """One of ``ENCODINGS``."""
    codec: str
    """Python's name of it; it leaves out the mark at the beginning."""


def is_workbook(head: bytes, whole: Iterable[bytes] = ()) -> bool:
    """Whether a file is a workbook of the form that can be read, or at least an archive.

    Args:
        head: its first bytes, 64 or more.
        whole: all of it in pieces, to look for a password in a file of the old form.

    Raises:
        UnreadableTable: it is a file of a kind that is no table, or of one that is not read.
    """
    if head.startswith(ZIP):
        return True
    if head.startswith(OLE):
        is_encrypted = any(ENCRYPTED in piece for piece in whole)
        protected, old = TableFault.PROTECTED_WORKBOOK, TableFault.OLD_WORKBOOK
        raise UnreadableTable(protected if is_encrypted else old)
    if head.startswith((*_PICTURES, *_DOCUMENTS)) or _WEB_PAGE.match(head):
        raise UnreadableTable(TableFault.NOT_A_TABLE)
    return False


class EncodingEvidence:
    """What a file's bytes say about its encoding; they are given in pieces."""

    def __init__(self) -> None:
        self._head = self._rest = b""
        self._size = self._zeros_even = self._zeros_odd = self._controls = 0
        self._utf_8: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder("utf-8")()
        self._weighed = self._arabic = self._latin = self._high = self._in_sequences = 0
        self._mac = self._western = self._dos = self._newlines = 0

    def feed(self, piece: bytes) -> None:
        """Look at the next bytes."""
        self._head = (self._head + piece[:4])[:4]
        if b"\0" in piece:
            even = self._size % 2
            self._zeros_even += piece[even::2].count(0)
            self._zeros_odd += piece[1 - even :: 2].count(0)
        self._size += len(piece)
        self._controls += len(piece) - len(piece.translate(None, _CONTROLS))
        if self._utf_8 is not None:
            try:
                self._utf_8.decode(piece)
            except UnicodeDecodeError:
                self._utf_8 = None
        if self._weighed < WEIGHED_BYTES:
            # Words and characters are weighed whole, wherever the pieces are cut.
            lines = self._rest + piece
            end = lines.rfind(b"\n") + 1 or max(0, len(lines) - LINE_BYTES)
            self._weigh(lines[:end])
            self._rest = lines[end:]

    def _weigh(self, piece: bytes) -> None:
        self._weighed += len(piece)
        self._high += len(piece) - len(piece.translate(None, _HIGH))
        self._in_sequences += sum(map(len, _sequences(piece)))
        self._newlines += piece.count(b"\n")
        self._mac += len(_mac_letters(piece))
        self._western += len(_latin_letters(piece))
        self._dos += len(_dos_letters(piece)) - len(_no_dos_letters(piece))
        for run in _runs(piece):
            letters = len(run) - len(run.translate(None, _ARABIC_LETTERS))
            if _has_ascii(run):
                self._latin += letters
            elif letters > 1:
                self._arabic += letters

    def encoding(self, chosen: str | None = None) -> FoundEncoding:
        """The encoding, after all bytes.

        Args:
            chosen: one of ``ENCODINGS`` that somebody chose; None: the likeliest one.

        Raises:
            UnreadableTable: the bytes are no text, or not in the encoding that was chosen.
        """
        if self._size == 0:
            raise UnreadableTable(TableFault.EMPTY_FILE)
        self._weigh(self._rest)
        self._rest = b""
        of_16 = self._utf_16()
        if chosen == UTF_16:
            return FoundEncoding(UTF_16, of_16 or "utf-16-le")
        if chosen is None and of_16 is not None:
            return FoundEncoding(UTF_16, of_16)
        if self._zeros_even or self._zeros_odd:
            raise UnreadableTable(TableFault.NUL_CHARACTERS)
        if self._controls * 100 > self._size:
            raise UnreadableTable(TableFault.NOT_A_TABLE)
        if chosen in (LATIN, ARABIC):
            return _of_windows(chosen)
        if chosen in (MAC, DOS):
            return FoundEncoding(chosen, _OTHER_CODECS[chosen])
        if self._is_utf_8():
            return FoundEncoding(UTF_8, "utf-8-sig")
        is_mixed = self._in_sequences * 5 > self._high * 4
        if chosen is not None or self._head.startswith(codecs.BOM_UTF8) or is_mixed:
            raise UnreadableTable(TableFault.BROKEN_ENCODING)
        if self._arabic > max(self._latin, self._mac):
            return _of_windows(ARABIC)
        if self._dos > self._western:
            return FoundEncoding(DOS, _OTHER_CODECS[DOS])
        # Old Macintosh programs end lines with CR alone.
        is_tie = self._mac == self._western > 0 and not self._newlines
        is_mac = self._mac > self._western or is_tie
        return FoundEncoding(MAC, _OTHER_CODECS[MAC]) if is_mac else _of_windows(LATIN)

    def _is_utf_8(self) -> bool:
        if self._utf_8 is None:
            return False
        try:
            self._utf_8.decode(b"", final=True)
        except UnicodeDecodeError:
            self._utf_8 = None
        return self._utf_8 is not None

    def _utf_16(self) -> str | None:
        if self._head.startswith(_MARKS_OF_16):
            return "utf-16"
        # Without a mark: separators, digits and line ends have a NUL in one half.
        if min(self._zeros_even, self._zeros_odd) > 0:
            return None
        zeros = self._zeros_even + self._zeros_odd
        if zeros < ZEROS_MIN or zeros * 10 < self._size:
            return None
        return "utf-16-le" if self._zeros_odd else "utf-16-be"


def _of_windows(name: str) -> FoundEncoding:
    return FoundEncoding(name, name.replace("windows-", "cp"))
