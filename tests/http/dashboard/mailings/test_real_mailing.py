"""A file in the composer becomes messages, by the real answers of the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from patience import HANG_S, POLL_S
from risala.config.model import CarrierSection, Settings, StorageSection
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.people import Browser, Language
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import system_seams
from risala.http.dashboard.app import create_dashboard
from risala.plugins.testing.fake_driver import FakeDriver

OPERATOR = Caller("amina", CallerKind.CLI, Role.OPERATOR)
FILE = (
    "école.csv",
    "numéro;parent;élève\r\n36123456;Fatimetou;Sidi\r\n46 12 34 56;محمد;أحمد\r\n"
    "bonjour;Ali;Omar\r\n36123456;Fatimetou;Brahim\r\n".encode(),
)
TEXT = "Salam {{parent}}, {{élève}} est absent."


@pytest.fixture
async def member(tmp_path: Path, browser_on) -> AsyncIterator[tuple]:
    """A browser of an owner, and the path of their organization."""
    settings = Settings(storage=StorageSection(data_dir=tmp_path))
    carrier = CarrierSection(name="fake", driver="fake", prefixes=("+222",))
    seams = replace(system_seams(), inline_journal=True, watch_loop=False)
    async with open_engine(settings, (carrier,), {"fake": FakeDriver()}, seams) as engine:
        gateway = engine.gateway
        own = (await gateway.perform("org.create", {"name": "own"}, OPERATOR))["id"]
        paid = {"organization_id": own, "amount": "100"}
        await gateway.perform("topup", paid, OPERATOR)
        email = "owner@baraka.example"
        added = {"organization_id": own, "email": email, "role": "owner"}
        await gateway.perform("member.add", added, OPERATOR)
        link = await gateway.perform("user.sign_in", {"email": email}, OPERATOR)
        browser = Browser("x", None, "", "", Language.ENGLISH)
        entered = await gateway.people.sign_in.use_link(link["token"], browser)
        app = create_dashboard(gateway, settings, shutdown=trio.Event())
        yield browser_on(app, {"risala": entered.token}), f"/app/{own}"


async def until_shown(reader, path: str, told: str):
    """The page, when it shows something."""
    with trio.fail_after(HANG_S):
        while told not in (page := await reader.get(path)).text:  # noqa: ASYNC110 -- of a page
            await trio.sleep(POLL_S)
    return page


@pytest.mark.slow
async def test_a_file_becomes_messages(member):
    owner, own = member
    new = f"{own}/messages/new"
    chosen = await owner.upload(await owner.get(new), f"{new}/count", {"body": TEXT}, FILE)
    assert 'name="column"' in chosen.text  # the columns that the text may name
    kept = {name: chosen.field(name) for name in ("upload", "upload_name")}
    made = await owner.upload(chosen, new, {"to": "", "body": TEXT, **kept})
    draft = made.location
    assert draft.startswith(f"{own}/mailings/mlg_")
    page = await until_shown(owner, draft, ">draft<")
    assert "Salam Fatimetou, Sidi est absent." in page.text
    assert "This is not a phone number." in page.text
    assert "gets the message." in page.text
    page = await owner.submit(page, f"{draft}/rows/4", {"cell0": "27 12 34 56"})
    assert page.location == f"{draft}#rows"
    hours = {"name": "École", "pace": "", "from_hour": "0", "to_hour": "24", "send_at": ""}
    page = await owner.submit(await owner.get(draft), f"{draft}/settings", hours)
    assert page.location == f"{draft}#when"
    question = await owner.get(f"{draft}/start")
    assert "people get the message, for" in question.text
    started = await owner.submit(question, f"{draft}/start", {})
    assert (started.status, started.location) == (303, draft)
    page = await until_shown(owner, draft, ">done<")
    report = await owner.get(f"{draft}/report?form=csv")
    for told in ("'+22236123456", "'+22246123456", "'+22227123456", "An earlier row"):
        assert told in report.text
    book = await owner.get(f"{draft}/rows/file")
    assert "gets the message." in book.text
    page = await owner.get(f"{own}/mailings")
    assert "École" in page.text
    page = await owner.submit(await owner.get(draft), f"{draft}/delete")
    assert page.location == f"{own}/mailings"


@pytest.mark.slow
async def test_a_picture_is_no_list(member):
    owner, own = member
    new = f"{own}/messages/new"
    picture = ("list.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10)
    page = await owner.upload(await owner.get(new), new, {"to": "", "body": "x"}, picture)
    assert page.status == 422
    assert "The file is no table." in page.text
