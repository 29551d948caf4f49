"""What the doctor says of sealed secrets: well, never exported, and without their key."""

from contextlib import closing

import pytest

from risala.engine.features.doctor.machine import sealed_secrets
from risala.engine.journal.sealed.resealing import EXPORTED, sealed_in
from risala.engine.journal.store import meta
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.model.findings import Grade
from risala.engine.rules.sealing import SecretPurpose


@pytest.fixture
def data(tmp_path):
    """A database with one endpoint, whose secret is sealed."""
    keys = SealingKeys(tmp_path, {})
    sealed = keys.seal(SecretPurpose.WEBHOOK_SECRET, "whe_1", b"whsec_1")
    with closing(open_writer(tmp_path / "risala.db", sealed_in(keys, migrate))) as conn:
        conn.execute("PRAGMA foreign_keys = OFF")
        conn.execute(
            "INSERT INTO webhook_endpoints (id, organization_id, mode, url, types, secret,"
            " created_at, updated_at) VALUES ('whe_1', 'org_1', 'live', 'x', '[]', ?, 1, 1)",
            (sealed,),
        )
    return tmp_path


def test_a_key_that_was_never_exported_is_a_warning_until_it_was(data):
    (finding,) = sealed_secrets(data)
    assert finding.state is Grade.WARN
    assert "export-key" in finding.text
    keys = SealingKeys(data, {})
    with closing(open_writer(data / "risala.db", sealed_in(keys, migrate))) as conn:
        conn.execute("BEGIN")
        meta.put(conn, EXPORTED, f"{keys.ring().newest.id} 1")
        conn.execute("COMMIT")
    (finding,) = sealed_secrets(data)
    assert finding.state is Grade.OK


def test_secrets_without_their_key_are_a_fault_and_no_key_is_made(data):
    (data / "sealing.key").unlink()
    (finding,) = sealed_secrets(data)
    assert finding.state is Grade.FAIL
    assert not (data / "sealing.key").exists()
    SealingKeys(data, {}).ring()
    (finding,) = sealed_secrets(data)
    assert finding.state is Grade.FAIL
    assert "1 of 1" in finding.text


def test_a_database_without_secrets_says_nothing(tmp_path):
    with closing(open_writer(tmp_path / "risala.db", migrate)):
        assert sealed_secrets(tmp_path) == []
    assert not (tmp_path / "sealing.key").exists()
