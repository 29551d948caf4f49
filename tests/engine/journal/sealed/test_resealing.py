"""All stored secrets are sealed with the newest key: after an upgrade, after a rotation, and after
one that was cut short. What a lost key sealed is named."""

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from risala.engine.journal.sealed.columns import sealed_columns
from risala.engine.journal.sealed.resealing import (
    SEALED_BY,
    counted,
    lost,
    seal_all,
    seal_some,
    sealed_in,
)
from risala.engine.journal.store import meta
from risala.engine.journal.store.opening import open_reader, open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.rules.sealing import SecretPurpose, key_of

FIXTURE = Path(__file__).parents[1] / "fixtures" / "v1.0.db.gz"
SIGNER = bytes(range(200, 220))
"""Octets that are no text."""


@pytest.fixture
def old(tmp_path):
    """A database of 1.0 with plain secrets of each kind; its path, and those secrets."""
    path = tmp_path / "risala.db"
    path.write_bytes(gzip.decompress(FIXTURE.read_bytes()))
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as conn:
        (organization,) = conn.execute("SELECT id FROM organizations").fetchone()
        conn.execute(
            "UPDATE webhook_endpoints SET previous_secret = 'whsec_previous',"
            """ headers = '{"authorization":"Bearer plain-token","x-old":"é"}'"""
        )
        conn.execute(
            "INSERT INTO hooks (id, organization_id, preset, mode, proof, secret, last4,"
            " old_secret, created_at, created_by)"
            " VALUES ('hok_1', ?, 'custom', 'live', 'bearer', ?, 'abcd', ?, 1, 'x')",
            (organization, b"hook-secret-octets-1", b"hook-secret-octets-0"),
        )
        conn.execute(
            "INSERT INTO face_credentials (id, organization_id, face, username, hash, signer,"
            " last4, mode, created_at, created_by)"
            " VALUES ('crd_1', ?, 'twilio', 'AC1', x'00', ?, 'abcd', 'live', 1, 'x')",
            (organization, SIGNER),
        )
        conn.commit()
        secrets = [value for (value,) in conn.execute("SELECT secret FROM webhook_endpoints")]
    plain = [*(each.encode() for each in secrets if each), b"whsec_previous", b"plain-token"]
    return path, [*plain, b"hook-secret-octets", SIGNER]


def opened(path, keys):
    return closing(open_writer(path, sealed_in(keys, migrate)))


def stored(conn):
    """Every text in a column of secrets: its column, what it is bound to, itself."""
    for column in sealed_columns():
        rows = conn.execute(
            f"SELECT {column.key}, {column.column} FROM {column.table}"
            f" WHERE length({column.column}) > 0"
        ).fetchall()
        for identity, value in rows:
            for bound_to, text in column.texts(identity, value):
                yield column, bound_to, text


def test_an_upgrade_seals_what_was_plain_and_leaves_none_of_it_in_the_files(tmp_path, old):
    path, plain = old
    assert all(each in path.read_bytes() for each in plain)
    keys = SealingKeys(tmp_path, {})
    with opened(path, keys) as conn:
        found = list(stored(conn))
        later = {
            "answer_rules",
            "factors",
            "identity_providers",
            "carrier_secrets",
            "fixed_numbers",
        }  # tables that 1.0 does not have
        expected = {column for column in sealed_columns() if column.table not in later}
        assert {column for column, _, _ in found} == expected
        assert {key_of(text) for _, _, text in found} == {keys.ring().newest.id}
        said = {keys.unseal(column.purpose, bound_to, text) for column, bound_to, text in found}
        assert {b"whsec_previous", b"Bearer plain-token", "é".encode(), SIGNER} <= said
        assert {b"hook-secret-octets-1", b"hook-secret-octets-0"} <= said
        octets = b"".join(each.read_bytes() for each in tmp_path.glob("risala.db*"))
        assert [each for each in plain if each in octets] == []
    assert [each for each in plain if each in path.read_bytes()] == []


def test_headers_keep_their_names_and_no_value_fits_another(tmp_path, old):
    path, _ = old
    keys = SealingKeys(tmp_path, {})
    with opened(path, keys) as conn:
        (text,) = conn.execute("SELECT headers FROM webhook_endpoints LIMIT 1").fetchone()
        assert list(json.loads(text)) == ["authorization", "x-old"]
        first = next(conn.execute("SELECT id FROM webhook_endpoints"))[0]
        swapped = dict(zip(json.loads(text), reversed(json.loads(text).values()), strict=True))
        conn.execute(
            "UPDATE webhook_endpoints SET headers = ? WHERE id = ?", (json.dumps(swapped), first)
        )
        assert [each.id for each in lost(conn, keys)] == [first]


def test_a_second_opening_touches_nothing(tmp_path, old):
    path, _ = old
    keys = SealingKeys(tmp_path, {})
    with opened(path, keys) as conn:
        before = list(stored(conn))
    with opened(path, keys) as conn:
        assert list(stored(conn)) == before
        assert seal_all(conn, keys) == 0


def rotated(conn, keys, most=999):
    """Seal some anew, in units, until the end or after so many; where it goes on."""
    place = None
    for _ in range(most):
        conn.execute("BEGIN IMMEDIATE")
        _, place = seal_some(conn, place, keys=keys)
        conn.execute("COMMIT")
        if place is None:
            break
    return place


def test_a_rotation_seals_everything_anew(tmp_path, old):
    path, _ = old
    keys = SealingKeys(tmp_path, {})
    with opened(path, keys) as conn:
        keys.rotate()
        rotated(conn, keys)
        assert {key_of(text) for _, _, text in stored(conn)} == {keys.ring().newest.id}
        keys.forget_old()
        assert list(lost(conn, keys)) == []


@pytest.mark.parametrize("units", [1, 2, 4])
def test_a_rotation_that_was_cut_short_opens_throughout_and_is_completed(tmp_path, old, units):
    path, _ = old
    keys = SealingKeys(tmp_path, {})
    with opened(path, keys) as conn:
        keys.rotate()
        assert rotated(conn, keys, units) is not None
        assert list(lost(conn, keys)) == []
        assert len({key_of(text) for _, _, text in stored(conn)}) == 2
    again = SealingKeys(tmp_path, {})
    with opened(path, again) as conn:
        assert meta.get(conn, SEALED_BY) == again.ring().newest.id
        assert {key_of(text) for _, _, text in stored(conn)} == {again.ring().newest.id}


def test_what_a_lost_key_sealed_is_named_and_comes_back_with_it(tmp_path, old):
    path, _ = old
    keys = SealingKeys(tmp_path, {})
    with opened(path, keys) as conn:
        total = sum(counted(conn).values())
    (tmp_path / "sealing.key").rename(tmp_path / "exported")
    others = SealingKeys(tmp_path, {})
    with opened(path, others) as conn:
        gone = list(lost(conn, others))
        assert len(gone) == total
        assert {each.key for each in gone} == {keys.ring().newest.id}
        assert {each.remedy.split()[1] for each in gone} == {"webhook", "hook", "credential"}
        others.add(keys.ring())
        rotated(conn, others)
        assert list(lost(conn, others)) == []
        assert {key_of(text) for _, _, text in stored(conn)} == {others.ring().newest.id}
    with closing(open_reader(path)) as conn:
        assert meta.get(conn, SEALED_BY) == others.ring().newest.id


@pytest.mark.parametrize("headers", ["{", "[" * 20_000, "[]", '{"x-a": 1}', "\u0661"])
def test_headers_that_cannot_be_read_are_lost_and_in_nobodys_way(old, tmp_path, headers):
    path, _ = old
    keys = SealingKeys(tmp_path)
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("UPDATE webhook_endpoints SET headers = ?", (headers,))
        conn.commit()
    with opened(path, keys) as conn:
        assert conn.execute("SELECT headers FROM webhook_endpoints").fetchone() == (headers,)
        assert {each.purpose for each in lost(conn, keys)} == {SecretPurpose.WEBHOOK_HEADER}
        assert seal_some(conn, None, keys=keys)[0] >= 1
