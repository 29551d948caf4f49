"""Files of people: what a text is, its separator, its headings, and each of its rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

from proofs.fuzz.target import FuzzTarget, Script, is_unicode, pieces, work_within
from risala.engine.features.tables.rules.checking import row_checker
from risala.engine.features.tables.rules.encodings import ENCODINGS, EncodingEvidence, is_workbook
from risala.engine.features.tables.rules.faults import UnreadableTable
from risala.engine.features.tables.rules.recognising import (
    SAMPLE_ROWS,
    SEPARATORS,
    recognise_separator,
    recognise_table,
    sample_rows,
    split,
)
from risala.engine.features.tables.rules.rendering import render
from risala.sms.numbering.plan import DEFAULT

TEXT: Final = "{{nom}} {{2}} {{القسم}}"
"""A text with columns that a table may have."""


def _tables(octets: bytes) -> None:
    """Any file has a fault or is a table; a row without a fault has a number and a text."""
    script = Script(octets)
    chosen = script.of((None, None, None, *ENCODINGS))
    separator = script.of((None, None, None, *SEPARATORS))
    size = script.number() + 1
    file = script.rest()
    with suppress(UnreadableTable), work_within(20_000 + 400 * len(file)):
        if is_workbook(file[:512], (file,)):
            return
        _read(file, chosen, separator, size)


def _read(file: bytes, chosen: str | None, separator: str | None, size: int) -> None:
    evidence = EncodingEvidence()
    for piece in pieces(file, size):
        evidence.feed(piece)
    encoding = evidence.encoding(chosen)
    try:
        lines = [*io.TextIOWrapper(io.BytesIO(file), encoding.codec, newline="")]
    except UnicodeError:
        return
    csv.field_size_limit(1000)
    found = separator or recognise_separator(lines[:SAMPLE_ROWS], DEFAULT)
    rows = [*sample_rows(split(lines, found))]
    table = recognise_table([*islice(rows, SAMPLE_ROWS)], DEFAULT)
    assert len({*table.columns}) == len(table.columns)
    assert 0 <= table.number_column < len(table.columns)
    checker = row_checker(table.columns, table.number_column, TEXT, DEFAULT, smart=True)
    seen: set[str] = set()
    for each in rows[table.has_header :]:
        checked = checker.check(each.row, each.cells, seen)
        assert checked.number is None or DEFAULT.serves(checked.number)
        if checked.fault is None:
            text = render(TEXT, table.columns, checked.cells)
            assert text.strip()
            assert is_unicode(text)
            assert checked.segments > 0
    assert len(seen) <= len(rows)


def _seeds() -> Iterator[bytes]:
    french = 'Nom;Classe;Tél\r\nBâ;6e A;22123456\r\n"N’Diaye";="5";+222 33 12 34 56\r\n'
    arabic = "الاسم,القسم,الهاتف\nمحمد,السادس,٢٢١٢٣٤٥٦\n"
    for text, codecs in (
        (french, ("utf-8-sig", "cp1252", "utf-16")),
        (arabic, ("utf-8", "utf-16")),
    ):
        yield from (b"\0\0\x40" + text.encode(codec) for codec in codecs)
    yield b"\0\0\x40" + "الاسم;الهاتف\nمحمد;22123456\n".encode("cp1256")
    yield b"\0\0\x40sep=|\nnom|2\na|22123456"


TARGETS: Final = (
    FuzzTarget(
        "tables",
        "a file is refused with one of the known faults, or is a table whose rows without a fault"
        " have a number of the plan and a text that can be sent; the work is in proportion",
        _tables,
        _seeds,
        words=(b";", b",", b"\t", b"|", b'"', b"\r\n", b"=", b"'", b"22123456", b"\xd9\xa2", b"\0"),
    ),
)
