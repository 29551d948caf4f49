"""Signed heads of the audit trail: they go out once a day, and show later what was changed."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio

from risala.config.hooks import SinksSection
from risala.config.model import MailSection
from risala.config.outward import StandbySection
from risala.engine.features.backup.stored.backup import back_up
from risala.engine.features.backup.stored.restore import restore
from risala.engine.features.sinks.service import AFTER_S
from risala.engine.features.trail_heads.service import FIRST_S, LOOK_S
from risala.engine.journal.audit import heads_file
from risala.engine.journal.audit.books import audit_file
from risala.engine.journal.store.key_file import load_trail_key
from risala.engine.model.errors import Invalid, StorageUnusable
from risala.engine.model.records.messages import Stamp
from risala.engine.rules.trail.heads import Head, NoHead, heads_of, signed_head
from risala.engine.wiring.connections import Connections
from risala.plugins.mail import Mail
from risala.plugins.sink import SinkUnavailableError

CHECKER = Path(__file__).parents[4] / "examples/audit-trail/check_trail.py"
DAY_MS = 86_400_000


@dataclass
class Mailbox:
    sent: list[Mail] = field(default_factory=list)

    async def send(self, mail: Mail) -> None:
        self.sent.append(mail)


@pytest.fixture
def mailbox():
    return Mailbox()


@pytest.fixture
async def house(open_house, autojump_clock, mailbox):
    outside = Connections(mailer=mailbox)
    async with open_house(outside=outside, mail=MailSection(operator="omar@example.com")) as opened:
        yield opened


async def rename(house, name="Shop"):
    named = {"organization_id": house.principal.organization_id, "name": name}
    await house.gateway.perform("org.set", named)


def forge(path, *statements):
    """Change what refuses to be changed, as who may write the file can."""
    with closing(sqlite3.connect(path)) as conn, conn:
        guards = conn.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        kept = guards.fetchall()
        for name, _ in kept:
            conn.execute(f"DROP TRIGGER {name}")
        for each in statements:
            conn.execute(each)
        for _, sql in kept:
            conn.execute(sql)


async def exported(house):
    """The export of the trail as the command writes it."""
    part = await house.gateway.perform("audit.chain", {})
    lines = [json.dumps({"columns": part["columns"]}), *part["lines"]]
    while part["after"] is not None:
        given = {"after": part["after"], "export": part["export"]}
        part = await house.gateway.perform("audit.chain", given)
        lines += part["lines"]
    return "\n".join([*lines, *part["heads"], ""])


def checked(tmp_path, export, *heads):
    """What an auditor's program says of an export, without Risala: its code and its lines."""
    file = tmp_path / "trail.jsonl"
    file.write_text(export, encoding="utf-8")
    command = (sys.executable, "-I", str(CHECKER), str(file), *map(str, heads))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


async def test_a_head_goes_out_once_a_day_if_there_are_new_lines(
    house, tmp_path, mailbox, autojump_clock, leap
):
    await rename(house)
    await leap(FIRST_S + 1)
    (first,) = heads_file.read(tmp_path)
    assert first.is_genuine()
    assert (tmp_path / "audit.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "audit.heads").stat().st_mode & 0o777 == 0o600
    (mail,) = mailbox.sent
    assert (mail.to, first.text in mail.text) == ("omar@example.com", True)
    house.clock.ahead_ms += DAY_MS
    await leap(LOOK_S)
    assert heads_file.read(tmp_path) == [first]  # nothing new
    await rename(house, "Other")
    await leap(LOOK_S)
    await rename(house, "Third")
    await leap(LOOK_S)
    first, second = heads_file.read(tmp_path)  # not the third yet
    assert second.key == first.key
    assert audit_file(tmp_path / "risala.db").heads == 2
    assert audit_file(tmp_path / "risala.db").clean


async def test_the_standby_gets_them_too(open_house, autojump_clock, leap, tmp_path):
    place = tmp_path / "standby"
    place.mkdir()
    async with open_house(standby=StandbySection(directory=place), inline=True) as house:
        await rename(house)
        await leap(FIRST_S + 1)
    assert heads_file.read(place) == heads_file.read(tmp_path) != []


async def test_the_standby_gets_what_it_missed(open_house, autojump_clock, leap, tmp_path):
    place = tmp_path / "standby"
    in_the_way = place / "audit.heads"
    in_the_way.mkdir(parents=True)
    async with open_house(standby=StandbySection(directory=place), inline=True) as house:
        await rename(house)
        await leap(FIRST_S + 1)
        in_the_way.rmdir()
        await leap(LOOK_S)
    assert heads_file.read(place) == heads_file.read(tmp_path) != []


@dataclass
class Shelf:
    """A sink that keeps heads, and refuses the first tries."""

    refusals: int = 0
    kept: list[str] = field(default_factory=list)

    async def take(self, events) -> None:
        await trio.lowlevel.checkpoint()

    async def take_audit_head(self, head: str) -> None:
        await trio.lowlevel.checkpoint()
        if self.refusals:
            self.refusals -= 1
            raise SinkUnavailableError("The shelf is away.")
        self.kept.append(head)


async def test_sinks_get_each_head_once_until_it_is_taken(
    open_house, autojump_clock, leap, tmp_path
):
    shelf, sinks = Shelf(refusals=2), SinksSection.model_validate({"shelf": {"sink": "shelf"}})
    outside = Connections(sinks={"shelf": shelf})
    async with open_house(outside=outside, sinks=sinks) as house:
        await rename(house)
        await leap(FIRST_S + AFTER_S + 1)
        assert shelf.kept == []
        house.clock.ahead_ms += DAY_MS
        await rename(house, "Other")
        await leap(3 * LOOK_S)
    async with open_house(outside=outside, sinks=sinks):
        await leap(2 * LOOK_S)
    assert shelf.kept == [each.text for each in heads_file.read(tmp_path)]
    assert len(shelf.kept) == 2


async def test_who_writes_the_whole_trail_anew_is_shown_by_a_head(
    house, tmp_path, autojump_clock, leap
):
    from risala.engine.rules.trail.chain import COLUMNS, GENESIS, hash_of

    database = tmp_path / "risala.db"
    await rename(house)
    await leap(FIRST_S + 1)
    (head,) = heads_file.read(tmp_path)
    with closing(sqlite3.connect(database)) as conn:
        rows = conn.execute(f"SELECT {', '.join(COLUMNS)} FROM audit_log ORDER BY seq").fetchall()
    anew, last = [], GENESIS
    for row in rows:
        values = [*row]
        values[2] = "nobody"
        last = hash_of(last, values)
        anew.append(f"UPDATE audit_log SET who='nobody', hash='{last}' WHERE seq={row[0]}")
    end = f"UPDATE meta SET value='{len(rows)} {last}' WHERE key='audit_head'"
    forge(database, *anew, end)
    (fault,) = audit_file(database).faults
    assert fault.startswith(f"audit trail, head of line {head.end.seq} ({head.at}): this line, or")
    (tmp_path / "audit.heads").unlink()
    assert audit_file(database).clean  # what only a head that went out shows
    assert not audit_file(database, [head]).clean


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM audit_log WHERE seq = 2", "audit trail, line 2: it is missing"),
        ("UPDATE audit_log SET who = 'x' WHERE seq = 2", "audit trail, line 2 ("),
        ("UPDATE audit_log SET before = CAST(x'ff' AS TEXT) WHERE seq = 2", "audit trail, line 2"),
        ("DROP TABLE audit_log", "audit trail: the trigger audit_log_no_update"),
        ("DELETE FROM audit_log WHERE seq = (SELECT max(seq) FROM audit_log)", "audit trail, line"),
    ],
    ids=["deleted", "edited", "not even text", "all gone", "the last"],
)
async def test_the_audit_says_where_the_chain_breaks(
    house, tmp_path, statement, said, autojump_clock
):
    database = tmp_path / "risala.db"
    await rename(house)
    assert audit_file(database).clean
    if statement.startswith("DROP"):
        with closing(sqlite3.connect(database)) as conn, conn:
            conn.execute(statement)
    else:
        forge(database, statement)
    found = audit_file(database)
    assert not found.clean
    assert found.faults[0].startswith(said)


async def test_a_dropped_or_changed_trigger_is_found(house, tmp_path, autojump_clock):
    database = tmp_path / "risala.db"
    with closing(sqlite3.connect(database)) as conn, conn:
        conn.execute("DROP TRIGGER audit_log_no_delete")
        conn.execute("DROP TRIGGER audit_log_no_update")
        conn.execute(
            "CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log BEGIN SELECT 1; END"
        )
        conn.execute("CREATE TRIGGER more AFTER INSERT ON audit_log BEGIN SELECT 1; END")
    assert audit_file(database).faults == (
        "audit trail: the trigger audit_log_no_update, which refuses changes, was changed",
        "audit trail: the trigger audit_log_no_delete, which refuses changes, is missing",
        "audit trail: the trigger more is not Risala's",
    )


async def test_a_broken_trail_gets_no_head_and_new_lines_do_not_mend_it(
    house, tmp_path, autojump_clock, leap
):
    await rename(house)
    last = "SELECT max(seq) FROM audit_log"
    forge(tmp_path / "risala.db", f"DELETE FROM audit_log WHERE seq = ({last})")
    await rename(house, "Other")
    await leap(FIRST_S + 1)
    assert heads_file.read(tmp_path) == []
    (fault,) = audit_file(tmp_path / "risala.db").faults
    assert "it is missing" in fault


async def test_a_restore_says_where_the_former_trail_ended(
    open_house, autojump_clock, leap, tmp_path
):
    database, copy = tmp_path / "risala.db", tmp_path / "copy.db"
    async with open_house() as house:
        back_up(database, copy, lambda *_: None)
        await rename(house)
        await leap(FIRST_S + 1)
    (head,) = heads_file.read(tmp_path)
    await trio.to_thread.run_sync(_put_back, copy, database)
    found = audit_file(database)
    assert found.clean
    (remark,) = found.remarks
    assert f"head of line {head.end.seq} " in remark
    assert "a restore at" in remark
    with closing(sqlite3.connect(database)) as conn:
        conn.row_factory = sqlite3.Row
        line = conn.execute("SELECT * FROM audit_log ORDER BY seq DESC").fetchone()
    said = json.loads(line["after"])
    assert (line["action"], said["kept"], said["backup"]) == (
        "database.restore",
        line["seq"] - 1,
        "copy.db",
    )
    assert (said["former"], said["formerHash"]) == (head.end.seq, head.end.hash)


def _put_back(copy, database):
    restore(
        copy,
        database,
        resend_pending=False,
        even_unclean=False,
        stamp=lambda: Stamp(1_767_225_700_000),
        progress=lambda *_: None,
    )


@pytest.mark.slow
async def test_an_auditor_checks_an_export_without_risala(
    house, tmp_path, monkeypatch, autojump_clock, leap
):
    from risala.engine.operations import trail

    monkeypatch.setattr(trail, "EXPORT_PART", 2)
    for name in ("Shop", "متجر", "=x"):
        await rename(house, name)
    await leap(FIRST_S + 1)
    heads = tmp_path / "audit.heads"
    export = await exported(house)
    lines = export.splitlines()
    assert checked(tmp_path, export, heads) == (0, [f"{len(lines) - 2} lines, 2 heads, 0 faults"])
    edited = "\n".join([lines[0], lines[1].replace("org.create", "org.list"), *lines[2:]])
    assert checked(tmp_path, edited)[0] == 1
    without = "\n".join([*lines[:3], *lines[4:]])
    assert checked(tmp_path, without)[1][0] == "line 4: the line before it is missing"
    cut = "\n".join(lines[:3])  # no head is left in it, but one went out
    assert checked(tmp_path, cut)[0] == 0
    assert checked(tmp_path, cut, heads)[0] == 1


def test_the_auditors_program_is_short_and_needs_no_risala():
    text = CHECKER.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 50
    assert "import risala" not in text


async def test_heads_come_from_a_file_a_mail_or_a_log(house, autojump_clock, leap):
    await rename(house)
    await leap(FIRST_S + 1)
    (head,) = heads_file.read(house.gateway.services.settings.storage.data_dir)
    texts = (head.text, f"> {head.text}", json.dumps({"event": "audit.head", "head": head.text}))
    assert list(heads_of(["", "Keep this mail.", *texts])) == [head] * 3
    with pytest.raises(NoHead, match="Line 1"):
        list(heads_of(['{"seq": 3, "hash": "a"}']))
    told = await house.gateway.perform("audit", {"heads": [head.text]})
    assert (told["clean"], told["heads"]) == (True, 1)
    forged = Head(head.end, head.at, head.key, signed_head(head.end, head.at, bytes(32)).signature)
    other = signed_head(head.end, head.at, bytes(32))
    for each, said in ((forged, "its signature is wrong"), (other, "is in no line of the trail")):
        told = await house.gateway.perform("audit", {"heads": [each.text]})
        assert said in told["faults"][0]
    with pytest.raises(Invalid):
        await house.gateway.perform("audit", {"heads": ['{"seq": 3}']})


def test_a_key_is_made_once_and_a_damaged_one_is_refused(tmp_path):
    made = load_trail_key(tmp_path)
    assert load_trail_key(tmp_path) == made
    for text in ("", "ab", "no key"):
        (tmp_path / "audit.key").write_text(text)
        with pytest.raises(StorageUnusable, match=r"audit\.key"):
            load_trail_key(tmp_path)
    shutil.rmtree(tmp_path)
    with pytest.raises(StorageUnusable, match="cannot be created"):
        load_trail_key(tmp_path)
