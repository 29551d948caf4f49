"""Features declare what they bring, and nothing that concerns all nouns forgets one."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import fields
from pathlib import Path

import pytest
from sqlite_utils import Database

from risala.engine.gateway.gateway import Gateway
from risala.engine.journal.store import audited as images
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import NotFound
from risala.engine.model.feature_work import Duty, WalkKind
from risala.engine.model.features import NAMES, Declared, Feature, features
from risala.engine.model.records.asks import FeatureAccess

PLACE = Path(__file__).parents[3] / "src/risala/engine/features"
IMPORTED = r"^ *(?:from|import) risala\.engine\.features\.(\w+)"
CORE = {
    *("organizations", "api_keys", "key_places", "senders", "verify_settings", "opened_countries"),
    *("organization_prices", "names", "message", "segment", "line", "verifications", "entry"),
    *(
        "spending",
        "day_parts",
        "credited",
        "event",
        "event_cursors",
        "webhook_endpoints",
        "webhook_delivery",
    ),
    *("webhook_attempts", "inbound", "inbound_routes", "opt_out_policies", "last_writers"),
    *(
        "hook_codes",
        "opt_outs",
        "carrier_notes",
        "carrier_secrets",
        "carrier_overrides",
        "carrier_marks",
        "carrier_gates",
    ),
    *("held_receipts", "unmatched_receipts", "unmatched_totals", "hour_count", "minute_count"),
    *("failure_count", "users", "members", "invitations", "web_sessions", "sign_in_requests"),
    *("sign_in_failures", "one_time_links", "email_changes", "mails", "audit_log", "meta"),
}
"""The tables of what every message passes, and of people's sessions."""


@pytest.fixture(scope="module")
def tables() -> dict[str, set[str]]:
    """The columns of each table of a new database."""
    conn = sqlite3.connect(":memory:", isolation_level=None)
    migrate(Database(conn))
    names = conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    found = {
        name: {column for _, column, *_ in conn.execute(f"PRAGMA table_info({name})")}
        for (name,) in names
        if not name.startswith(("sqlite_", "_sqlite_"))
    }
    conn.close()
    return found


def test_each_folder_is_a_feature_in_the_order_of_its_needs():
    folders = {each.name for each in PLACE.iterdir() if (each / "feature.py").exists()}
    assert folders == set(NAMES)
    before: set[str] = set()
    for feature in features():
        assert set(feature.needs) <= before, feature.name
        before.add(feature.name)


def test_a_feature_imports_no_others_than_it_says():
    for feature in features():
        sources = [path.read_text() for path in (PLACE / feature.name).rglob("*.py")]
        found = {name for source in sources for name in re.findall(IMPORTED, source, re.MULTILINE)}
        assert found - {feature.name} == set(feature.needs), feature.name


def test_whatever_is_declared_is_there():
    resolved = 0
    for feature in features():
        for each in _declared(feature):
            assert each() is not None, (feature.name, each)
            resolved += 1
    assert resolved > 40


def _declared(feature: Feature) -> list[Declared]:
    found: list[Declared] = []
    for each in fields(feature):
        value = getattr(feature, each.name)
        if isinstance(value, Declared):
            found.append(value)
        elif isinstance(value, tuple):
            found += [one for one in value if isinstance(one, Declared)]
        elif isinstance(value, dict):
            found += value.values()
    return found


def test_each_table_has_one_owner(tables: dict[str, set[str]]):
    owned = [name for feature in features() for name in feature.tables]
    assert len(owned) == len(set(owned))
    assert not CORE & set(owned)
    assert CORE | set(owned) == set(tables)


def test_only_own_tables_are_deleted_with_an_organization(tables: dict[str, set[str]]):
    for feature in features():
        assert set(feature.deleted) <= set(feature.tables), feature.name
        assert all("organization_id" in tables[name] for name in feature.deleted), feature.name


def test_only_own_tables_go_with_a_user(tables: dict[str, set[str]]):
    for feature in features():
        assert set(feature.of_users) <= set(feature.tables), feature.name
        assert all("user_id" in tables[name] for name in feature.of_users), feature.name


def test_each_kind_of_mail_is_filled_by_one():
    theirs = [kind for feature in features() for kind in feature.letters]
    assert len(theirs) == len(set(theirs))


def test_each_kind_of_thing_is_read_for_the_trail_by_one():
    theirs = [image for feature in features() for image in feature.images]
    assert len(theirs) == len(set(theirs))
    core = {*images.LOOKS, AuditImage.MEMBER}
    assert all(callable(each()) for each in images.LOOKS.values())
    assert not core & set(theirs)
    assert core | set(theirs) == set(AuditImage)


def test_each_kind_of_walk_is_somebodys():
    theirs = [kind for feature in features() for kind in feature.walks]
    assert len(theirs) == len(set(theirs))
    assert set(theirs) < set(WalkKind)


def test_each_duty_is_done_by_one():
    theirs = [each for feature in features() for each in feature.duties]
    assert sorted(theirs) == sorted(Duty)


def test_what_no_feature_offers_is_not_found():
    gateway = Gateway(None)
    with pytest.raises(NotFound, match="does not do that"):
        gateway.access(FeatureAccess("nothing"))
    with pytest.raises(NotFound, match="does not do that"):
        gateway.access(FeatureAccess("tables"))


def test_no_two_features_fill_the_same_mail_or_count():
    for of in ("letters", "decides", "figures", "oldest", "exported"):
        theirs = [each for feature in features() for each in getattr(feature, of)]
        assert len(theirs) == len(set(theirs)), of
    for feature in features():
        assert set(feature.quoting) <= set(feature.letters), feature.name
