"""The decimals with which a database's amounts are kept: other ones make each another amount.

The table ``meta`` notes them unless they are the usual ones, which all amounts had before.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import Final

from sqlite_utils import Database

from risala.engine.journal.store import meta
from risala.engine.journal.store.opening import Migrate
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.money import decimals_in_words
from risala.sms.currencies import USUAL, decimals_of

_KEY: Final = "decimals"
_CURRENCIES: Final = "SELECT DISTINCT currency FROM organizations"


def migrate_in(currency: str, migrate: Migrate) -> Migrate:
    """A migration that refuses books kept with other decimals than a currency's."""
    return partial(_migrate, migrate=migrate, currency=currency)


def _migrate(db: Database, *, migrate: Migrate, currency: str) -> None:
    """
    Raises:
        StorageUnusable: the books are kept with other decimals.
    """
    migrate(db)
    fault = currency_fault(db.conn, currency)
    if fault is not None:
        raise StorageUnusable(fault)
    places = str(decimals_of(currency))
    if (meta.get(db.conn, _KEY) or str(USUAL)) == places:
        return
    db.execute("BEGIN IMMEDIATE")  # there are no books yet
    meta.put(db.conn, _KEY, places)
    db.execute("COMMIT")


def currency_fault(conn: sqlite3.Connection, currency: str) -> str | None:
    """Why a service in this currency cannot use these books: two sentences; None: it can."""
    kept, places = int(meta.get(conn, _KEY) or USUAL), decimals_of(currency)
    if kept == places:
        return None
    currencies = sorted(name for (name,) in conn.execute(_CURRENCIES))
    if not currencies:
        return None
    before = next((name for name in currencies if decimals_of(name) == kept), None)
    stays = "" if before is None else f'Set `service.currency` to "{before}" again, or '
    other = f"{stays}use another `storage.data_dir`."
    return (
        f"Amounts in this database have {decimals_in_words(kept)}, and those in {currency} have "
        f"{decimals_in_words(places)}: each balance would become another amount. "
        f"{other[:1].upper()}{other[1:]}"
    )
