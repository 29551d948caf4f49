"""The messages as a file: filtered as the list is, part by part, and told of beside it."""

import csv
import io

import pytest

import web_messages
from risala.engine.model.errors import Overloaded
from risala.http.web.files.downloads import DownloadState

EXPORT = "/app/org_1/messages/export"
ID = "a" * 22


def asked(gateway, name="message.export"):
    return [arguments for each, arguments in gateway.done if each == name]


async def test_the_page_has_an_id_of_its_own(owner):
    page = await owner.get(f"{EXPORT}?status=failed")
    assert page.location.startswith(f"{EXPORT}?status=failed&id=")
    shown = await owner.get(page.location)
    assert "Only what matches" in shown.text
    assert '<input type="hidden" name="status" value="failed">' in shown.text
    assert "written" not in shown.text.partition('id="written"')[2].partition("</div>")[0]


async def test_the_list_leads_there_with_its_filters(owner):
    page = await owner.get("/app/org_1/messages?status=failed&before=7")
    assert f'href="{EXPORT}?status=failed"' in page.text


async def test_the_file_has_every_part_in_the_same_filters(owner, gateway, app):
    page = await owner.get(f"{EXPORT}/file?id={ID}&status=failed&q=36123456&form=comma")
    assert page.headers["content-type"] == "text/csv; charset=utf-8"
    assert page.headers["content-disposition"] == 'attachment; filename="messages-2026-11-21.csv"'
    head, *rows = csv.reader(io.StringIO(page.text.removeprefix("\ufeff"), newline=""))
    first = dict(zip(head, rows[0], strict=True))
    assert [row[0][-1] for row in rows] == ["0", "1", "2", "3", "4"]
    assert first["to"] == "'+22226000000"
    assert first["createdAt"] == "2026-11-21 08:41:16"
    assert (first["price"], first["body"]) == ("0.50", web_messages.FRENCH)
    assert rows[1][head.index("status")] == "uncertain"
    one, two = asked(gateway)
    assert (one["status"], one["to"], one["mode"]) == ("failed", "+22236123456", "live")
    assert two == {**one, "before": "7", "export": "11"}
    found = app.site.downloads.expect("usr_1", ID)
    assert (found.rows, found.state) == (5, DownloadState.DONE)
    told = await owner.get(f"{EXPORT}?id={ID}")
    assert "The file is complete" in told.text


async def test_semicolons_for_who_wants_them(owner):
    page = await owner.get(f"{EXPORT}/file?id={ID}&form=semicolon")
    assert page.text.startswith('\ufeff"messageId";"createdAt"')
    assert '"0,50"' in page.text


@pytest.mark.parametrize("language", ["fr", "ar"])
async def test_the_readers_spreadsheet_is_chosen_beforehand(owner, language):
    owner.cookies["risala-language"] = language
    page = await owner.get(f"{EXPORT}?id={ID}")
    assert 'id="form-semicolon" value="semicolon" checked' in page.text


async def test_test_data_are_exported_from_test_mode(owner, gateway):
    await owner.get(f"{EXPORT}/file?id={ID}&mode=test")
    assert asked(gateway)[0]["mode"] == "test"


async def test_what_is_refused_is_a_page(owner, gateway):
    gateway.refuse = Overloaded("Not now.")
    page = await owner.get(f"{EXPORT}/file?id={ID}")
    assert (page.status, page.headers["content-type"]) == (503, "text/html; charset=utf-8")


async def test_who_looks_is_told_of_their_own_alone(owner, reader_as):
    await owner.get(f"{EXPORT}/file?id={ID}")
    other = reader_as(id="usr_2")
    assert "The file is complete" not in (await other.get(f"{EXPORT}?id={ID}")).text


async def test_what_is_over_is_told_and_followed_no_more(owner):
    await owner.get(f"{EXPORT}/file?id={ID}")
    assert "event: over" in (await owner.get(f"{EXPORT}/live?id={ID}")).text
