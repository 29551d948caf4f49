"""The tables in PostgreSQL, their version, and what makes them."""

from __future__ import annotations

from typing import Any, Final

import psycopg

SERVER_MIN: Final = 130_000
"""PostgreSQL 13 as libpq counts: the oldest that its makers mended when this was written."""

_TABLES: Final = """
CREATE SCHEMA IF NOT EXISTS risala_standby;

CREATE TABLE risala_standby.version (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    number integer NOT NULL
);

-- One row for each installation. A lock on its key keeps others from taking the lease, and lets its
-- holder renew: so the number of the lease belongs to a unique key.
CREATE TABLE risala_standby.lease (
    installation text PRIMARY KEY,
    epoch bigint NOT NULL,
    holder text NOT NULL,
    machine text NOT NULL,
    term_s integer NOT NULL,
    count bigint NOT NULL,
    at bigint NOT NULL,
    entries bigint NOT NULL,
    released boolean NOT NULL,
    until timestamptz NOT NULL,
    former jsonb,
    UNIQUE (installation, epoch)
);

CREATE TABLE risala_standby.generation (
    installation text NOT NULL,
    name text NOT NULL,
    epoch bigint NOT NULL,
    PRIMARY KEY (installation, name)
);

CREATE TABLE risala_standby.chunk (
    installation text NOT NULL,
    generation text NOT NULL,
    number integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (installation, generation, number),
    FOREIGN KEY (installation, generation) REFERENCES risala_standby.generation ON DELETE CASCADE
);

CREATE TABLE risala_standby.piece (
    installation text NOT NULL,
    generation text NOT NULL,
    number bigint NOT NULL,
    epoch bigint NOT NULL,
    at bigint NOT NULL,
    before text NOT NULL,
    sha256 text NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (installation, generation, number),
    FOREIGN KEY (installation, generation) REFERENCES risala_standby.generation ON DELETE CASCADE
);
ALTER TABLE risala_standby.piece ALTER COLUMN data SET STORAGE EXTERNAL; -- it is compressed already

-- Which generation is the present one, and how far it has come.
CREATE TABLE risala_standby.shipped (
    installation text PRIMARY KEY,
    generation text NOT NULL,
    sha256 text NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL
);
"""
_AWAITED: Final = """
-- Whether every answer has waited for the pieces since: then a takeover misses none of them.
ALTER TABLE risala_standby.shipped ADD COLUMN awaited boolean NOT NULL DEFAULT false;
"""
_HEADS: Final = """
-- Signed heads of the audit trail, by the number of their line. They stay after a takeover.
CREATE TABLE risala_standby.head (
    installation text NOT NULL,
    line bigint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (installation, line)
);
"""
_STEPS: Final = (_TABLES, _AWAITED, _HEADS)
"""What brings the tables from each version to the next; those that have run never change."""
VERSION: Final = len(_STEPS)
"""The version of the tables."""


def prepare(conn: psycopg.Connection[tuple[Any, ...]]) -> tuple[bool, str | None]:
    """Make the tables.

    Returns:
        Whether there was anything to do; why the server cannot be used, None: it can.
    """
    if conn.info.server_version < SERVER_MIN:
        return False, check(conn)
    made = make(conn)
    return made, check(conn)


def check(conn: psycopg.Connection[tuple[Any, ...]]) -> str | None:
    """Why this server, or its tables, cannot be used; None: they can."""
    server = conn.info.server_version
    if server < SERVER_MIN:
        return (
            f"This PostgreSQL is version {server // 10_000}; Risala needs {SERVER_MIN // 10_000} "
            f"or later."
        )
    version = version_of(conn)
    if version is None:
        return "The tables for the standby are not there yet. Make them with `risala standby init`."
    if version > VERSION:
        return (
            f"A newer Risala has made the tables for the standby (version {version}; this one "
            f"knows {VERSION}). Upgrade Risala here."
        )
    if version < VERSION:
        return (
            f"The tables for the standby are of an older Risala (version {version} of {VERSION}). "
            f"Bring them up to date with `risala standby init`."
        )
    return None


def version_of(conn: psycopg.Connection[tuple[Any, ...]]) -> int | None:
    """The version of the tables; None: there are none."""
    try:
        row = conn.execute("SELECT number FROM risala_standby.version").fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return None
    if row is None:
        return None
    (number,) = row
    return int(number)


def make(conn: psycopg.Connection[tuple[Any, ...]]) -> bool:
    """Make the tables, or bring them up to date, all or none; False: there was nothing to do."""
    with conn.transaction():
        # Two who make them at once: the second one waits, and finds them.
        conn.execute("SELECT pg_advisory_xact_lock(hashtext('risala_standby'))")
        # Asked beforehand: what is refused would end the transaction.
        query = "SELECT 1 WHERE to_regclass('risala_standby.version') IS NOT NULL"
        there = None if conn.execute(query).fetchone() is None else version_of(conn)
        if there is not None and there >= VERSION:
            return False
        for step in _STEPS[there or 0 :]:
            conn.execute(step.encode())
        query = (
            "INSERT INTO risala_standby.version (number) VALUES (%s)"
            " ON CONFLICT (is_only) DO UPDATE SET number = excluded.number"
        )
        conn.execute(query, (VERSION,))
    return True
