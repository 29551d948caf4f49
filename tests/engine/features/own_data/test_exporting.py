"""A file with everything of an organization, and nothing of anybody else's."""

from __future__ import annotations

import json
from zipfile import ZipFile

import pytest
import trio

from mailing_book import add_list, new_mailing, new_row
from patience import until_true
from risala.config.model import Settings, StorageSection
from risala.engine.features.mailings.stored import checking, mailings
from risala.engine.features.own_data import exporting
from risala.engine.features.own_data.exporting import SPARE_BYTES, Errands, Exporting
from risala.engine.features.own_data.records import ExportState
from risala.engine.features.own_data.stored import exports
from risala.engine.features.own_data.stored.exports import KEPT_MS, STANDING_MAX
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.commands import SendCode
from risala.engine.model.errors import Conflict, Forbidden, NotFound
from risala.engine.model.ids import first_id
from risala.engine.wiring.gateway import open_gateway

MANY = 3
"""Rows of the longer mailing."""
NUMBER, BODY, CAME_IN = "+22236123456", "hello, ‏مرحبا", "what they wrote"


class World:
    def __init__(self, house):
        self.house = house
        self.mine = {"organization_id": house.principal.organization_id}
        self.services = house.gateway.services
        self.folder = exporting.folder(self.services)

    async def do(self, name, /, **arguments):
        return await self.house.gateway.perform(name, arguments)

    def write_to_many(self, conn):
        """Two mailings, two lists and a saved text; a mailing that is deleted."""
        whose = {"organization_id": self.mine["organization_id"], "created_at": 1}
        for name in "123":
            mailings.add(conn, new_mailing(f"mlg_{name}", **whose), None)
            rows = [new_row(row) for row in range(1, MANY + 1)]
            checking.store_rows(conn, f"mlg_{name}", rows[: MANY if name == "1" else 1])
        mailings.delete(conn, "mlg_3", 2)
        for name, people in (("1", ["+22236000001", "+22236000002"]), ("2", [NUMBER])):
            add_list(conn, f"lst_{name}", people, **whose)
        conn.execute(
            "INSERT INTO saved_texts VALUES ('txt_1', ?, 'Greeting', 'fr', 'Bonjour', 1, 'me')",
            (whose["organization_id"],),
        )

    async def write(self, **arguments):
        """Ask for a file, and wait until it is there or is not to be."""
        asked = await self.do("export.ask", **self.mine, **arguments)
        await until_true(lambda: self.find(asked["id"]).state is not ExportState.WRITING)
        return asked["id"]

    def all_sent(self):
        statuses = self.services.repositories._store.reader.execute(
            "SELECT DISTINCT status FROM messages"
        ).fetchall()
        return statuses == [("sent",)]

    def find(self, export_id):
        return exports.find(self.services.repositories._store.reader, export_id)

    async def lines(self, export_id):
        """What is in the file, by name."""
        fetched = await self.do("export.fetch", export_id=export_id)
        with ZipFile(fetched["path"]) as archive:
            assert archive.testzip() is None
            names = [name for name in archive.namelist() if name.endswith(".jsonl")]
            found = {
                name: [json.loads(line) for line in archive.read(name).decode().splitlines()]
                for name in names
            }
            return {**found, "settings.json": json.loads(archive.read("settings.json"))}


@pytest.fixture
async def world(open_house, autojump_clock):
    async with open_house() as house:
        made = World(house)
        other = await house.organization()
        for principal in (house.principal, house.principal, other):
            message_id = await house.send(BODY, NUMBER, principal=principal, metadata={"a": "b"})
            await house.wait_status(message_id, "sent")
        await house.gateway.send_code(house.principal, SendCode(to=NUMBER))
        await until_true(made.all_sent)  # so that two files tell the same of the code's message
        key = await made.do("key.create", type="secret", **made.mine)
        made.secret = key["value"]
        hook = await made.do(
            "webhook.create",
            url="https://example.com/hook",
            types=["sms.failed"],
            headers={"Authorization": "Bearer of-nobody"},
            **made.mine,
        )
        made.secrets = (key["value"], hook["secret"], "of-nobody")
        now_ms = made.services.recorder.clock.now_ms()
        identity, whose = first_id("mo", now_ms), made.mine["organization_id"]
        await made.services.recorder.journal.commit(
            lambda conn: conn.execute(
                "INSERT INTO inbound VALUES (?, 'fake', ?, '1234', ?, '', ?, ?, NULL, NULL)",
                (identity, NUMBER, CAME_IN, now_ms, whose),
            )
        )
        await made.services.recorder.journal.commit(made.write_to_many)
        yield made


async def test_everything_of_an_organization_is_in_it_and_no_secret(world, autojump_clock):
    export_id = await world.write()
    found = await world.lines(export_id)
    assert sorted(found) == [
        *(
            "alarms.jsonl",
            "audit.jsonl",
            "automatic-answers.jsonl",
            "conversations.jsonl",
            "forwarded-texts.jsonl",
            "inbound.jsonl",
            "invoices.jsonl",
            "ledger.jsonl",
            "list-opt-outs.jsonl",
            "list-people.jsonl",
            "lists.jsonl",
        ),
        *(
            "mailing-repeat-runs.jsonl",
            "mailing-rows.jsonl",
            "mailings.jsonl",
            "messages.jsonl",
            "opt-outs.jsonl",
        ),
        *("payments.jsonl", "reverse-verifications.jsonl", "saved-texts.jsonl", "settings.json"),
        *("verification-details.jsonl", "verifications.jsonl"),
    ]
    sent = [each for each in found["messages.jsonl"] if each["kind"] == "sms"]
    assert [(each["to"], each["body"], each["metadata"]) for each in sent] == [
        (NUMBER, BODY, {"a": "b"})
    ] * 2
    assert [each["to"] for each in found["verifications.jsonl"]] == [NUMBER]
    assert [each["text"] for each in found["inbound.jsonl"]] == [CAME_IN]
    assert {each["kind"] for each in found["ledger.jsonl"]} == {"topup", "charge"}
    assert [each["last4"] for each in found["settings.json"]["keys"]] == [world.secret[-4:]]
    of_mailings = [(each["mailingId"], each["row"]) for each in found["mailing-rows.jsonl"]]
    assert of_mailings == [*(("mlg_1", row) for row in range(1, MANY + 1)), ("mlg_2", 1)]
    assert found["mailing-rows.jsonl"][0]["cells"][1] == "Name 1"
    assert [each["id"] for each in found["mailings.jsonl"]] == ["mlg_2", "mlg_1"]
    assert [(each["listId"], each["number"]) for each in found["list-people.jsonl"]] == [
        *(("lst_1", "+22236000001"), ("lst_1", "+22236000002"), ("lst_2", NUMBER)),
    ]
    assert [each["people"] for each in found["lists.jsonl"]] == [2, 1]
    assert [each["text"] for each in found["saved-texts.jsonl"]] == ["Bonjour"]
    told = json.dumps(found)
    assert world.services.repositories._store.reader.execute(
        "SELECT count(*) FROM message"
    ).fetchone() == (4,)
    for secret in world.secrets:
        assert secret not in told
    shown = await world.do("export.show", export_id=export_id)
    assert (
        shown["written"]
        == shown["expected"]
        == sum(len(rows) for name, rows in found.items() if name.endswith(".jsonl"))
    )
    (path,) = world.folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    lines = world.services.repositories._store.reader.execute(
        "SELECT action FROM audit_log WHERE action LIKE 'export%'"
    )
    assert [action for (action,) in lines] == ["export.ask", "export.fetch"]


async def test_parts_follow_each_other_without_a_gap(world, monkeypatch, autojump_clock):
    whole = await world.lines(await world.write())
    monkeypatch.setattr(exporting, "ROWS_AT_ONCE", 1)
    found = await world.lines(await world.write())
    for name in ("messages.jsonl", "verifications.jsonl", "inbound.jsonl", "ledger.jsonl"):
        assert found[name] == whole[name], name


async def test_one_at_a_time_and_not_too_many(world, autojump_clock):
    first = await world.do("export.ask", **world.mine)
    with pytest.raises(Conflict, match="already being written"):
        await world.do("export.ask", **world.mine)
    await until_true(lambda: world.find(first["id"]).state is ExportState.READY)
    for _ in range(STANDING_MAX - 1):
        await world.write()
    with pytest.raises(Conflict, match="Delete one first"):
        await world.do("export.ask", **world.mine)
    await world.do("export.delete", export_id=first["id"])
    await until_true(lambda: len([*world.folder.iterdir()]) == STANDING_MAX - 1)
    with pytest.raises(NotFound):
        await world.do("export.fetch", export_id=first["id"])
    await world.write()


async def test_a_long_file_holds_no_other_organization_s_up(world, monkeypatch, autojump_clock):
    monkeypatch.setattr(exporting, "ROWS_AT_ONCE", 1)
    monkeypatch.setattr(exporting, "PAUSE_MIN_S", 0.2)
    other = await world.house.organization()
    long = await world.do("export.ask", **world.mine)
    await trio.sleep(0.5)
    short = await world.do("export.ask", organization_id=other.organization_id)
    await until_true(lambda: world.find(short["id"]).state is ExportState.READY)
    assert world.find(long["id"]).state is ExportState.WRITING
    await until_true(lambda: world.find(long["id"]).state is ExportState.READY)
    assert len(await world.lines(long["id"])) > 1


async def test_a_file_goes_when_its_time_is_over(world, autojump_clock):
    export_id = await world.write()
    now_ms = world.services.recorder.clock.now_ms()
    assert world.find(export_id).expires_at - now_ms > KEPT_MS - 60_000
    await world.services.recorder.journal.commit(
        lambda conn: conn.execute("UPDATE exports SET expires_at = ?", (now_ms,))
    )
    with pytest.raises(NotFound):
        await world.do("export.fetch", export_id=export_id)
    world.services.part(Errands).exporting.ring()
    await until_true(lambda: not [*world.folder.iterdir()])
    assert world.find(export_id).state is ExportState.GONE


async def test_a_full_disk_is_left_alone(world, autojump_clock):
    export_id = exports_id = "exp_1"
    whose, now_ms = world.mine["organization_id"], world.services.recorder.clock.now_ms()
    full = Exporting(world.services, inline=True, free=lambda _: SPARE_BYTES - 1)
    begin = (export_id, whose, "me", now_ms)
    await world.services.recorder.journal.commit(lambda conn: exports.begin(conn, *begin))
    async with trio.open_nursery() as writers:
        await full._pass(writers)
    failed = world.find(exports_id)
    assert (failed.state, failed.reason) == (ExportState.FAILED, "no room")
    assert [*world.folder.iterdir()] == []


async def test_a_file_that_cannot_be_removed_is_tried_again(world, autojump_clock):
    """It holds up nobody else's, and goes once the disk lets it."""
    export_id = await world.write()
    (path,) = world.folder.iterdir()
    path.unlink()
    path.mkdir()  # nothing that can be unlinked
    await world.do("export.delete", export_id=export_id)
    await world.write()
    assert path.exists()
    path.rmdir()
    path.write_bytes(b"a disk that was ill")
    await until_true(lambda: not path.exists())


async def test_a_folder_that_cannot_be_made_is_a_fault_of_the_file_alone(world, autojump_clock):
    world.folder.rmdir()
    world.folder.write_bytes(b"in its way")
    failed = world.find(await world.write())
    assert (failed.state, failed.reason) == (ExportState.FAILED, "broken")
    world.folder.unlink()
    assert world.find(await world.write()).state is ExportState.READY


async def test_who_was_killed_begins_anew(open_house, autojump_clock):
    async with open_house() as house:
        world = World(house)
        whose = world.mine["organization_id"]
        begin = ("exp_1", whose, "me", 0)
        await world.services.recorder.journal.commit(lambda conn: exports.begin(conn, *begin))
        world.folder.mkdir(exist_ok=True)
        (world.folder / "exp_1.part").write_bytes(b"half of it")
    async with open_house() as house:
        world = World(house)
        await until_true(lambda: world.find("exp_1").state is ExportState.READY)
        assert [path.name for path in world.folder.iterdir()] == ["exp_1.zip"]
        assert (await world.lines("exp_1"))["settings.json"]["organization"]["id"] == whose


async def test_what_is_forgotten_is_in_no_file(world, autojump_clock):
    export_id = await world.write()
    await world.do("number.forget", number=NUMBER, **world.mine)
    assert world.find(export_id).state is ExportState.GONE
    await until_true(lambda: not [*world.folder.iterdir()])


async def test_only_owners_have_one_and_only_a_service_writes_it(world, tmp_path, autojump_clock):
    whose = world.mine["organization_id"]
    export_id = await world.write()
    for role in (Role.VIEWER, Role.DEVELOPER):
        caller = Caller("d", CallerKind.DASHBOARD, role, whose, "usr_1")
        for name, given in (("export.ask", world.mine), ("export.fetch", {"export_id": export_id})):
            with pytest.raises(Forbidden):
                await world.house.gateway.perform(name, given, caller)
    stranger = Caller("s", CallerKind.DASHBOARD, Role.OWNER, "org_other", "usr_1")
    with pytest.raises(NotFound):
        await world.house.gateway.perform("export.fetch", {"export_id": export_id}, stranger)
    settings = Settings(storage=StorageSection(data_dir=tmp_path / "alone"))
    (tmp_path / "alone").mkdir()
    async with open_gateway(settings) as alone:
        made = await alone.perform("org.create", {"name": "Alone"})
        with pytest.raises(Conflict, match="not running"):
            await alone.perform("export.ask", {"organization_id": made["id"]})
