"""Mailings by operations: who may, what is shown to whom, and the files that come and go."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from pathlib import Path

import openpyxl
import pytest
import trio

from risala.config.model import Settings, StorageSection
from risala.engine.features.mailings.records import MailingState
from risala.engine.model.callers import PROCESS, Caller, CallerKind, Role
from risala.engine.model.errors import Conflict, EditConflict, Forbidden, Invalid, NotFound
from risala.engine.wiring.gateway import open_gateway

PEOPLE = b"name;phone\nAminetou;36 00 00 01\nSidi;36 00 00 02\nFatma;12\n"
COUSIN = Caller("cousin", CallerKind.DASHBOARD, Role.OWNER, "org_other")
IN_CONSOLE = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)


async def pieces(*chunks: bytes) -> AsyncIterator[bytes]:
    for each in chunks:
        await trio.lowlevel.checkpoint()
        yield each


def member(desk, role=Role.DEVELOPER) -> Caller:
    return Caller(role.value, CallerKind.DASHBOARD, role, desk.organization_id)


async def do(desk, verb, caller=PROCESS, /, **arguments):
    return await desk.house.gateway.perform(f"mailing.{verb}", arguments, caller)


async def upload(desk, caller=PROCESS, content=PEOPLE) -> str:
    chunks = pieces(content[:9], content[9:])
    gateway = desk.house.gateway
    return await gateway.receive_upload(desk.organization_id, chunks, "people.csv", caller)


async def test_a_file_becomes_a_mailing_that_is_sent(open_desk, quick):
    async with open_desk() as desk:
        developer = member(desk)
        given = {"organization_id": desk.organization_id, "text": "Hello {{name}}"}
        given["upload"] = await upload(desk, developer)
        made = await do(desk, "create", developer, **given)
        assert (made["name"], made["createdBy"]) == ("people.csv", "developer")
        await desk.until(made["id"], MailingState.DRAFT)
        mailing = {"mailing_id": made["id"]}
        await do(desk, "set", developer, from_hour=0, to_hour=24, **mailing)
        shown = await do(desk, "show", member(desk, Role.VIEWER), **mailing)
        assert (shown["mailing"]["price"], shown["balance"]) == ("1.00", "1000.00")
        await do(desk, "start", developer, version=shown["version"], **mailing)
        await desk.until(made["id"], MailingState.DONE)
        assert [text for _, text in desk.messages()] == ["Hello Aminetou", "Hello Sidi"]


async def test_who_may_give_a_file(open_desk, quick):
    async with open_desk() as desk:
        with pytest.raises(Forbidden):
            await upload(desk, member(desk, Role.VIEWER))
        with pytest.raises(NotFound):
            await upload(desk, COUSIN)
        with pytest.raises(NotFound):
            await desk.house.gateway.receive_upload("org_none", pieces(PEOPLE), "x")
        await desk.house.gateway.perform("org.suspend", {"organization_id": desk.organization_id})
        with pytest.raises(Forbidden, match="suspended"):
            await upload(desk, member(desk))
        gone = (await desk.house.gateway.perform("org.create", {"name": "Gone"}))["id"]
        deleted = {"organization_id": gone, "name": "Gone"}
        await desk.house.gateway.perform("org.delete", deleted)
        with pytest.raises(Conflict, match="deleted"):
            await desk.house.gateway.receive_upload(gone, pieces(PEOPLE), "x")


async def test_a_command_alone_makes_no_mailing(tmp_path):
    settings = Settings(storage=StorageSection(data_dir=tmp_path))
    async with open_gateway(settings) as alone:
        made = await alone.perform("org.create", {"name": "School"})
        given = {"organization_id": made["id"]}
        with pytest.raises(Conflict, match="The file cannot be read because the service is not"):
            await alone.receive_upload(made["id"], pieces(PEOPLE), "people.csv")
        with pytest.raises(Conflict, match="The mailing cannot be made because the service is not"):
            await alone.perform("mailing.create", {**given, "numbers": "36000001"})
        assert await alone.perform("mailing.list", given) == {"mailings": [], "older": None}


async def test_a_file_that_is_read_is_for_one_mailing_or_list(open_desk, quick):
    async with open_desk() as desk:
        given = {"organization_id": desk.organization_id}
        listed = await desk.house.gateway.perform("list.create", {**given, "name": "All"})
        sent = {"upload": await upload(desk)}
        others = (
            ("mailing.create", {**given, **sent}),
            ("list.create", {**given, **sent, "name": "Others"}),
            ("list.add", {"list_id": listed["list"]["id"], **sent}),
        )

        async def are_refused():
            for name, arguments in others:
                with pytest.raises(Conflict, match="used already"):
                    await desk.house.gateway.perform(name, arguments)

        with desk.service.uploads.used(sent["upload"], desk.organization_id):
            await are_refused()
        made = await do(desk, "create", text="Hello", **given, **sent)
        await are_refused()
        await desk.until(made["id"], MailingState.DRAFT)
        read = await do(desk, "read", mailing_id=made["id"], has_header=True)  # its file is there
        assert read["id"] == made["id"]


async def test_a_mailing_has_one_source(open_desk, quick):
    async with open_desk() as desk:
        given = {"organization_id": desk.organization_id}
        for more in ({}, {"numbers": "36000001", "list_id": "lst_1"}):
            with pytest.raises(Invalid) as refused:
                await do(desk, "create", **given, **more)
            assert refused.value.code == "one_source"


async def test_settings_are_checked_together_and_a_null_takes_one_away(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        mailing = {"mailing_id": made.id}
        await do(desk, "set", from_hour=9, to_hour=17, pace=60, **mailing)
        with pytest.raises(Invalid) as refused:
            await do(desk, "set", from_hour=17, **mailing)
        assert (refused.value.path, refused.value.code) == ("to_hour", "invalid_hours")
        with pytest.raises(Invalid) as refused:
            await do(desk, "set", send_at="2100-01-01T00:00:00Z", **mailing)
        assert refused.value.code == "too_late"
        changed = await do(desk, "set", pace=None, from_hour=None, name=None, **mailing)
        assert (changed["pace"], changed["fromHour"], changed["name"]) == (None, 9, "people.csv")


async def test_what_somebody_else_changed_is_not_sent_unseen(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        mailing = {"mailing_id": made.id}
        seen = (await do(desk, "show", member(desk), **mailing))["version"]
        for look in ("rows", "person", "report"):  # a look is no change
            await do(desk, look, PROCESS, **mailing)
        assert (await do(desk, "show", **mailing))["version"] == seen
        await do(
            desk, "mend", member(desk, Role.OWNER), row=4, cells=["Fatma", "36000003"], **mailing
        )
        with pytest.raises(EditConflict, match="owner"):
            await do(desk, "start", member(desk), version=seen, **mailing)
        assert desk.service.mailing(made.id).state == "draft"


async def test_an_operator_in_the_console_sees_no_texts_and_no_people(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        mailing = {"mailing_id": made.id}
        shown = (await do(desk, "show", IN_CONSOLE, **mailing))["mailing"]
        assert (shown["text"], shown["columns"], shown["ready"]) == ("", [], 2)
        for look in ("rows", "person", "report", "workbook"):
            with pytest.raises(Forbidden):
                await do(desk, look, IN_CONSOLE, **mailing)


async def test_a_step_needs_a_row_to_start_from(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        with pytest.raises(Invalid):
            await do(desk, "person", mailing_id=made.id, step="next")
        found = await do(desk, "person", mailing_id=made.id, step="next", row=2)
        assert (found["text"], found["place"]) == ("Hello Sidi", 2)


async def test_a_report_has_one_line_in_the_trail(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(PEOPLE)
        part = await do(desk, "report", member(desk), mailing_id=made.id)
        assert [row["row"] for row in part["rows"]] == [2, 3, 4]
        more = {"mailing_id": made.id, "after": 3, "export": part["export"]}
        rest = await do(desk, "report", member(desk), **more)
        assert [row["row"] for row in rest["rows"]] == [4]
        with pytest.raises(Invalid):  # somebody else's
            await do(desk, "report", member(desk, Role.OWNER), **more)


async def test_a_workbook_says_it_in_the_readers_words(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.draft(b"name;phone\n=1+1;36 00 00 01\n")
        words = {"row": "Ligne", "ready": "à envoyer"}
        told = await do(desk, "workbook", mailing_id=made.id, words=words)
        path = Path(told["path"])
        heading, row = openpyxl.load_workbook(path).active.rows
        assert [each.value for each in heading][:4] == ["Ligne", "Recipient", "name", "phone"]
        assert [each.value for each in row][:5] == [
            "2",
            "+22236000001",
            "=1+1",
            "36 00 00 01",
            "à envoyer",
        ]
        assert row[2].data_type == "s"
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert not path.with_suffix(".cells").exists()
