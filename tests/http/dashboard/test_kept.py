"""What is kept, forgetting a number, and the ends of an organization and of an account."""

from __future__ import annotations

import re

import pytest

import web_kept
from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, EditConflict, Invalid

SETTINGS = "/app/org_1/settings"
KEPT = f"{SETTINGS}/kept"
FORGET = f"{SETTINGS}/forget"


async def test_days_are_shown_and_chosen(owner, gateway):
    page = await owner.get(KEPT)
    assert '<option value="7" selected>7 days</option>' in page.text
    assert '<option value="" selected>As long as we do: 90 days</option>' in page.text
    fields = {"texts_days": "30", "events_days": "", "inbound_days": "1", "version": "5"}
    page = await owner.submit(page, KEPT, fields)
    assert page.location == KEPT
    told = {"organization_id": "org_1", "texts_days": 30, "inbound_days": 1, "version": 5}
    assert gateway.done[-1] == ("kept.set", told)


async def test_what_takes_how_much_is_shown(owner):
    page = await owner.get(KEPT)
    assert "take 53 of 1,000 MB" in re.sub("<[^>]+>", "", page.text)
    for kind, count, rows, size in (
        ("Mailings and drafts", "12", "4,300", "53"),
        ("Lists of people", "3", "900", "1"),
        ("Uploaded files that wait", "0", "0", "0"),
    ):
        row = re.sub("<[^>]+>", " ", page.text[page.text.index(kind) :].partition("</tr>")[0])
        assert row.removeprefix(kind).split() == [count, rows, size]


async def test_who_saves_over_another_sees_first_what_stands(owner, gateway):
    page = await owner.get(KEPT)
    refused = EditConflict("bilal@baraka.example")

    async def perform(name, arguments, caller):
        if name == "kept.set":
            raise refused
        return await type(gateway).perform(gateway, name, arguments, caller)

    gateway.perform = perform
    page = await owner.submit(page, KEPT, {"texts_days": "30", "version": "4"})
    assert page.status == 422
    assert "Present values" in page.text
    assert '<option value="30" selected>' in page.text
    assert page.field("version") == "5"


async def test_a_number_is_shown_with_its_figures_before_it_is_forgotten(owner, gateway):
    page = await owner.get(f"{FORGET}?number=36+12+34+56")
    assert "241" in page.text
    assert "1 has not left" in re.sub("<[^>]+>", "", page.text)
    assert "has opted out of your messages" in page.text
    wrong = await owner.submit(page, FORGET, {"number": "+22236123456", "confirm": "3457"})
    assert wrong.status == 422
    assert "not its last four digits" in wrong.text
    assert "number.forget" not in [name for name, _ in gateway.done]
    page = await owner.submit(wrong, FORGET, {"number": "36 12 34 56", "confirm": "3456"})
    assert page.location == f"{SETTINGS}/deletions/del_1"
    told = {"organization_id": "org_1", "number": "+22236123456"}
    assert gateway.done[-1] == ("number.forget", told)


async def test_an_address_is_confirmed_by_its_last_characters(owner, gateway):
    page = await owner.get(f"{FORGET}?number=nour@example.org")
    assert "Type its last four characters to go on" in page.text
    assert "last four digits" not in page.text
    wrong = await owner.submit(page, FORGET, {"number": "nour@example.org", "confirm": "1234"})
    assert "not its last four characters" in wrong.text
    await owner.submit(wrong, FORGET, {"number": "nour@example.org", "confirm": ".org"})
    assert gateway.done[-1][0] == "number.forget"


async def test_a_number_that_nobody_knows_has_no_button(owner):
    page = await owner.get(f"{FORGET}?number=22000000")
    assert "We have no data about this number" in page.text
    assert "Erase it for good" not in page.text
    page = await owner.get(f"{FORGET}?number=<b>")
    assert page.status == 422
    assert 'value="&lt;b&gt;"' in page.text


async def test_progress_draws_itself_anew_until_it_is_done(owner, gateway):
    page = await owner.get(f"{SETTINGS}/deletions/del_1")
    assert "3 / 8" in re.sub("<[^>]+>", "", page.text)
    assert "every 2s" in page.text
    piece = await owner.get(f"{SETTINGS}/deletions/del_1/piece")
    assert "<html" not in piece.text
    waits = await owner.get(f"{SETTINGS}/deletions/del_3")
    assert "A carrier still has a message" in waits.text
    gateway.answers["erasure.show"] = web_kept.erasure(state="done", endedAt="2026-11-21T08:00:00Z")
    done = await owner.get(f"{SETTINGS}/deletions/del_1/piece")
    assert "8 / 8" in re.sub("<[^>]+>", "", done.text)
    assert "hx-get" not in done.text
    # That of a whole organization is nobody's page.
    gateway.answers["erasure.show"] = web_kept.erasure(number=None)
    assert (await owner.get(f"{SETTINGS}/deletions/del_1")).status == 404


async def test_an_organization_is_deleted_by_its_typed_name(owner, gateway):
    assert f"{SETTINGS}/delete" in (await owner.get(SETTINGS)).text
    page = await owner.get(f"{SETTINGS}/delete")
    told = re.sub("<[^>]+>", "", page.text)
    for figure in ("4 API keys", "3 members", "12 messages", "2 webhooks", "1 sender name"):
        assert figure in told
    assert "12,480.50" in told
    stock = gateway.perform

    async def perform(name, arguments, caller):
        if name == "org.delete":
            raise Invalid("name", "other_name", "No.")
        return await stock(name, arguments, caller)

    gateway.perform = perform
    wrong = await owner.submit(page, f"{SETTINGS}/delete", {"name": "Baraka"})
    assert wrong.status == 422
    assert "not the name of this organization" in wrong.text
    gateway.perform = stock
    page = await owner.submit(wrong, f"{SETTINGS}/delete", {"name": "Baraka Market"})
    assert page.location == "/app"
    told = {"organization_id": "org_1", "name": "Baraka Market"}
    assert gateway.done[-1] == ("org.delete", told)


async def test_an_account_is_deleted_by_its_typed_address(owner, gateway):
    assert "/account/delete" in (await owner.get("/account")).text
    page = await owner.get("/account/delete")
    wrong = await owner.submit(page, "/account/delete", {"email": "somebody@example.com"})
    assert wrong.status == 422
    assert "account.delete" not in [name for name, _ in gateway.done]
    typed = {"email": "AICHA@baraka.example"}
    stock = gateway.perform

    async def perform(name, arguments, caller):
        if name == "account.delete":
            raise Conflict("An organization needs an owner. Make somebody else an owner first.")
        return await stock(name, arguments, caller)

    gateway.perform = perform
    alone = await owner.submit(wrong, "/account/delete", typed)
    assert alone.status == 422
    assert "Make somebody else an owner first" in alone.text
    gateway.perform = stock
    page = await owner.submit(alone, "/account/delete", typed)
    assert page.location == "/sign-in"
    assert "risala" not in owner.cookies
    assert gateway.done[-1] == ("account.delete", {})


async def test_a_file_is_asked_for_watched_fetched_and_deleted(owner, gateway, tmp_path):
    page = await owner.get(KEPT)
    assert f"{SETTINGS}/exports/exp_ready" in page.text
    assert "exp_gone" not in page.text
    page = await owner.submit(page, f"{SETTINGS}/exports")
    assert page.location == f"{SETTINGS}/exports/exp_writing"
    page = await owner.get(page.location)
    assert "every 2s" in page.text
    ready = await owner.get(f"{SETTINGS}/exports/exp_ready")
    assert "hx-get" not in ready.text
    assert "7,168" in ready.text
    (tmp_path / "file").write_bytes(b"PK of it")
    told = {"export": web_kept.export("ready", bytes=8), "path": str(tmp_path / "file")}
    gateway.answers["export.fetch"] = told
    file = await owner.get(f"{SETTINGS}/exports/exp_ready/file")
    assert file.text == "PK of it"
    assert file.headers["content-disposition"] == 'attachment; filename="risala-2026-11-21.zip"'
    assert file.headers["cache-control"] == "no-store"
    gone = await owner.submit(ready, f"{SETTINGS}/exports/exp_ready/delete")
    assert gone.location == KEPT
    assert gateway.done[-1] == ("export.delete", {"export_id": "exp_ready"})


async def test_why_there_is_no_file_is_said(owner, gateway):
    assert "enough room" in (await owner.get(f"{SETTINGS}/exports/exp_failed")).text
    assert "no longer exists" in (await owner.get(f"{SETTINGS}/exports/exp_gone")).text
    assert (await owner.get(f"{SETTINGS}/exports/exp_ready/file")).status == 404
    page = await owner.get(KEPT)
    stock = gateway.perform

    async def perform(name, arguments, caller):
        if name == "export.ask":
            raise Conflict("There are already 3 files. Delete one first.")
        return await stock(name, arguments, caller)

    gateway.perform = perform
    page = await owner.submit(page, f"{SETTINGS}/exports")
    assert page.status == 422
    assert "Delete one first" in page.text


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVELOPER])
async def test_only_owners_find_it(reader_as, role):
    for path in (KEPT, FORGET, f"{SETTINGS}/delete"):
        assert (await reader_as(role).get(path)).status == 403
