"""`risala standby takeover` says what is lost, and what to do where it cannot go on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

import pytest
from click.testing import CliRunner

from risala.cli.main import cli
from risala.engine.features.standby.copy_check import NAME, last_trial
from risala.engine.features.standby.doctor import trial_finding
from risala.engine.features.standby.stored import pieces
from risala.engine.features.standby.stored.wal import WalPart, WalPlace
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import migrate


@pytest.fixture
def shipped(tmp_path):
    """A whole copy and two pieces, of the fifth second and of the 72nd."""
    directory = tmp_path / "shipped"
    snapshot = pieces.folder(directory, "one") / pieces.SNAPSHOT
    snapshot.parent.mkdir(parents=True)
    open_writer(snapshot, migrate).close()
    last = hashlib.sha256(snapshot.read_bytes()).hexdigest()
    pieces.put(directory / pieces.CURRENT, json.dumps(asdict(pieces.Current("one", last))).encode())
    for number, at in ((1, 5_000), (2, 72_000)):
        last = pieces.write(directory, "one", number, at, WalPart(WalPlace(0, 0), 0, 0, {}), last)
    pieces.put_note(directory / pieces.SHIPPED, pieces.Shipped("one", 2, 72_000))
    return directory


@pytest.fixture
def take(tmp_path, shipped):
    def one(*options: str):
        where = ("--data", str(tmp_path / "data"), "--i-know-the-primary-is-dead")
        return CliRunner().invoke(cli, ["standby", "takeover", str(shipped), *where, *options])

    return one


@pytest.mark.slow
def test_a_piece_that_was_cut_comes_with_advice(take, shipped):
    piece = pieces.file_of(shipped, "one", 2)
    piece.write_bytes(piece.read_bytes()[:-4])
    told = take()
    assert told.exit_code == 1
    assert "use --leave-out-damaged to take what was shipped before it" in told.output
    told = take("--leave-out-damaged")
    assert told.exit_code == 0, told.output
    assert "as of 1970-01-01 00:00:05.000 UTC" in told.output
    assert "Everything that the primary did after that moment is lost, " in told.output
    assert "last seen 67 s after that moment" in told.output


@pytest.mark.slow
def test_a_primary_that_was_not_seen_any_more_may_have_gone_on(take):
    told = take()
    assert "as of 1970-01-01 00:01:12.000 UTC" in told.output
    assert "s ago by the clock here." in told.output
    assert "may have continued" in told.output


@pytest.mark.slow
def test_a_copy_is_tried_and_the_doctor_tells(tmp_path, shipped):
    data = tmp_path / "data"

    def tried():
        return CliRunner().invoke(cli, ["standby", "try", str(shipped), "--data", str(data)])

    assert trial_finding(data, 0).state == "warn"
    told = tried()
    assert (told.exit_code, "can be restored" in told.output) == (0, True), repr(told.exception)
    assert [each.name for each in data.iterdir()] == [NAME], "nothing of it stays"
    found = last_trial(data)
    assert found is not None
    assert found.copy_of == 72_000
    assert trial_finding(data, found.at).state == "ok"
    assert "50 days ago" in trial_finding(data, found.at + 50 * 86_400_000).text
    piece = pieces.file_of(shipped, "one", 2)
    piece.write_bytes(piece.read_bytes()[:-4])
    told = tried()
    assert (told.exit_code, "cannot be restored" in told.output) == (1, True)
    failed = trial_finding(data, found.at)
    assert (failed.state, "could not be restored" in failed.text) == ("fail", True)


class TestWhereTheSettingsSay:
    """Without DIRECTORY."""

    @pytest.fixture
    def ask(self, tmp_path):
        def one(settings: str, *command: str):
            (tmp_path / "risala.toml").write_text(settings)
            where = ("--config", str(tmp_path / "risala.toml"), "--data", str(tmp_path / "data"))
            return CliRunner().invoke(cli, ["standby", *command, *where])

        return one

    def test_directories_are_looked_for_and_not_made(self, ask, tmp_path):
        both = f'[standby]\ndirectory = "{tmp_path}/s"\nlease_directory = "{tmp_path}/l"\n'
        told = ask(both, "init")
        assert (told.exit_code, "Risala does not create it" in told.output) == (1, True)
        (tmp_path / "s").mkdir()
        (tmp_path / "l").mkdir()
        told = ask(both, "init")
        assert (told.exit_code, "They are there" in told.output) == (0, True)
        told = ask(both, "status")
        assert (told.exit_code, "none yet" in told.output) == (0, True)

    def test_without_settings_a_directory_has_to_be_named(self, ask):
        for command in ("watch", "status", "takeover"):
            told = ask("", command)
            assert told.exit_code == 1
            assert "Name the directory that the primary ships to" in told.output
        assert "nothing to make" in ask("", "init").output

    def test_a_postgresql_without_an_address_is_said(self, ask, monkeypatch):
        monkeypatch.delenv("RISALA_STANDBY_URL", raising=False)
        settings = '[standby]\ncopy = "postgresql"\nlease = "postgresql"\n'
        for command in ("init", "watch", "status", "takeover"):
            told = ask(settings, command)
            assert told.exit_code == 1
            assert "RISALA_STANDBY_URL is not set" in told.output
