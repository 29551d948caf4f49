"""The chain of the audit trail: each of many random tamperings is found, and at its place."""

from __future__ import annotations

import os
import random
import re
import tracemalloc

import pytest

from risala.engine.rules.trail.chain import COLUMNS, EMPTY, GENESIS, ChainEnd, ChainWalk, hash_of

TAMPERINGS = int(os.environ.get("TAMPERINGS", "150"))
"""`make tamperings` tries 1,000."""
LINES = 40
WORDS = ("amina", "cli", "operator", "org.set", "org_1", "sms_1", '{"balance": "1.00"}', "é\0")
AT_MS = 1_732_693_800_000


def trail(lines=LINES):
    """Rows of a trail, each with its hash."""
    rows, last = [], GENESIS
    for seq in range(1, lines + 1):
        values = [
            seq,
            AT_MS + seq,
            "amina",
            "cli",
            "operator",
            "org.set",
            None,
            "org_1",
            None,
            "{}",
        ]
        last = hash_of(last, values)
        rows.append([*values, last])
    return rows


def faults(rows, end=None):
    noted = end or ChainEnd(LINES, trail()[-1][-1])
    return list(ChainWalk().faults(rows, noted))


def edit(rows, chance):
    """Another value in one column, with the hash as it was, or with one that fits."""
    at = chance.randrange(LINES)
    row, column = rows[at], chance.randrange(1, len(COLUMNS) + 1)
    old = row[column]
    while row[column] == old:
        row[column] = chance.choice((None, "x" * 64, chance.randrange(1 << 40), *WORDS))
    if column < len(COLUMNS) and chance.random() < 0.5:
        row[-1] = hash_of(rows[at - 1][-1] if at else GENESIS, row[:-1])
    return {at + 1, at + 2}


def delete(rows, chance):
    first = chance.randrange(LINES)
    last = chance.choice((first + 1, chance.randrange(first, LINES) + 1))
    del rows[first:last]
    return {first + 1}


def delete_and_number_again(rows, chance):
    at = chance.randrange(LINES)
    del rows[at]
    for seq, row in enumerate(rows, 1):
        row[0] = seq
    return {at + 1, LINES}


def swap(rows, chance):
    one, other = sorted(chance.sample(range(LINES), 2))
    rows[one][1:], rows[other][1:] = rows[other][1:], rows[one][1:]
    if rows[one][2:-1] == rows[other][2:-1] and chance.random() < 0.3:
        rows[one][-1], rows[other][-1] = rows[other][-1], rows[one][-1]
    return {one + 1, one + 2}


def insert(rows, chance):
    at = chance.randrange(LINES + 1)
    values = [0, AT_MS, *(chance.choice(WORDS) for _ in COLUMNS[2:])]
    rows.insert(at, [*values, "0" * 64])
    for seq, row in enumerate(rows, 1):
        row[0] = seq
    if chance.random() < 0.5:
        rows[at][-1] = hash_of(rows[at - 1][-1] if at else GENESIS, rows[at][:-1])
    return {at + 1, at + 2, LINES}


def put_before(rows, chance):
    rows.insert(0, [-chance.randrange(9), AT_MS, *rows[0][2:]])
    return {rows[0][0]}


TAMPERING = (edit, edit, delete, delete_and_number_again, swap, insert, put_before)


@pytest.mark.parametrize("tamper", dict.fromkeys(TAMPERING), ids=lambda each: each.__name__)
def test_every_tampering_is_found_at_its_place(tamper):
    share = TAMPERINGS * TAMPERING.count(tamper) // len(TAMPERING) + 1
    for seed in range(share):
        chance, rows = random.Random(seed), trail()
        places = tamper(rows, chance)
        found = faults(rows)
        assert found, (tamper.__name__, seed)
        (place,) = re.findall(r"^audit trail, lines? (?:after )?(-?\d+)", found[0])
        assert int(place) in places, (tamper.__name__, seed, found)


def test_a_whole_trail_has_no_fault():
    assert faults(trail()) == []
    assert list(ChainWalk().faults([], EMPTY)) == list(ChainWalk().faults([], None)) == []


def test_a_trail_that_somebody_wrote_anew_ends_in_another_hash():
    rows = trail()
    rows[4][2], last = "nobody", GENESIS
    for row in rows:
        row[-1] = last = hash_of(last, row[:-1])
    assert faults(rows) == ["audit trail, line 40: its hash is not the one that was noted"]


def test_each_break_is_told_once_and_what_follows_is_checked():
    rows = trail()
    rows[9][2] = rows[29][2] = "nobody"
    del rows[14:17]
    assert [each.split(":")[0] for each in faults(rows)] == [
        "audit trail, line 10 (2024-11-27T07",
        "audit trail, lines 15 to 17",
        "audit trail, line 30 (2024-11-27T07",
    ]


def test_a_removed_end_and_a_lost_note_are_seen():
    assert faults(trail()[:-2]) == [
        "audit trail, lines 39 to 40: they are missing; they were the last"
    ]
    assert list(ChainWalk().faults(trail(), None)) == [
        "audit trail, line 40: the note of the last line is missing"
    ]
    assert faults(trail(), ChainEnd(38, trail()[37][-1])) == [
        "audit trail, lines after 38: Risala did not write them"
    ]


def test_a_walk_takes_the_memory_of_one_line():
    lines = 3000

    def rows():
        last = GENESIS
        for seq in range(1, lines + 1):
            row = [seq, AT_MS, "amina", "cli", "operator", "org.set", None, "o", None, "{}" * 999]
            last = hash_of(last, row)
            yield [*row, last]

    walk = ChainWalk()
    tracemalloc.start()
    found = list(walk.faults(rows(), None))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [f"audit trail, line {lines}: the note of the last line is missing"]
    assert (walk.lines, peak < 100_000) == (lines, True)
