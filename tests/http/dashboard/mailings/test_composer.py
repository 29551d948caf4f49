"""The composer's one field: a number is sent at once, all else becomes a draft."""

from __future__ import annotations

import re

import pytest

import web_messages
from risala.engine.features.tables.records import FILE_BYTES_MAX
from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, Invalid
from risala.http.dashboard.messages.composer import Recipients, recipients_of
from risala.http.web.forms import SentForm

NEW = "/app/org_1/messages/new"
DRAFT = "/app/org_1/mailings/mlg_draft"
FILE = ("école.csv", "numéro;élève\n36123456;سيدي\n".encode())


def asked(gateway, name):
    return [arguments for each, arguments in gateway.done if each == name]


async def test_one_number_is_sent_at_once(owner, gateway):
    page = await owner.upload(await owner.get(NEW), NEW, {"to": "36 12 34 56", "body": "Bonjour"})
    assert page.location == f"/app/org_1/messages/{web_messages.MESSAGE_ID}"
    [sent] = asked(gateway, "send")
    assert (sent["to"], sent["body"]) == ("36 12 34 56", "Bonjour")
    assert not asked(gateway, "mailing.create")


@pytest.mark.parametrize("between", ["\n", "\r\n", ",", ", ", ";", "،", "؛ ", "\t", "\n\n"])
async def test_many_numbers_are_a_draft(owner, gateway, between):
    typed = between.join(("36123456", "+222 46 12 34 56", "٣٦١٢٣٤٥٧"))
    fields = {"to": typed, "body": "سلام", "from": "SHOP"}
    page = await owner.upload(await owner.get(NEW), NEW, fields)
    assert page.location == DRAFT
    [made] = asked(gateway, "mailing.create")
    assert made["numbers"] == "36123456\n+222 46 12 34 56\n٣٦١٢٣٤٥٧"
    assert (made["text"], made["from"], made["mode"]) == ("سلام", "SHOP", "live")
    assert not asked(gateway, "send")


@pytest.mark.parametrize(
    "fields", [{"to": "parents 6E"}, {"list": "lst_1"}, {"to": " Parents 6e\n", "list": ""}]
)
async def test_a_list_is_typed_or_chosen(owner, gateway, fields):
    page = await owner.upload(await owner.get(NEW), NEW, {**fields, "body": "x"})
    assert page.location == DRAFT
    assert asked(gateway, "mailing.create")[0]["list_id"] == "lst_1"


async def test_a_file_is_stored_and_is_a_draft(owner, gateway):
    page = await owner.upload(await owner.get(NEW), NEW, {"to": "", "body": ""}, FILE)
    assert page.location == DRAFT
    assert gateway.uploads == [("org_1", *FILE)]
    [made] = asked(gateway, "mailing.create")
    assert made["upload"] == "upl_1"


async def test_a_time_is_the_draft_s_too(owner, gateway):
    fields = {"to": "36123456,36123457", "body": "x", "send_at": "2026-12-01T08:00"}
    await owner.upload(await owner.get(NEW), NEW, fields)
    [given] = asked(gateway, "mailing.set")
    assert given == {"mailing_id": "mlg_draft", "send_at": "2026-12-01T08:00:00.000Z"}


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        ("36123456,0", {"to": "36123456,0"}),
        ("4,91701E+11", {"to": "4,91701E+11"}),
        ("36123456 ext 12", {"to": "36123456 ext 12"}),
        ("36123456 ou 46123456", {"to": "36123456 ou 46123456"}),
        ("36123456,0\n46123456,0", {"numbers": "36123456,0\n46123456,0"}),
    ],
)
def test_what_is_meant_to_be_a_number_is_kept_whole(typed, given):
    found = recipients_of(SentForm({"to": (typed,)}), ())
    assert found == Recipients(number=given.get("to"), numbers=given.get("numbers"))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"to": ""}, "Fill this in."),
        ({"to": "Parents 7e"}, "neither a phone number nor the name of a list"),
        ({"to": "36123456", "list": "lst_1"}, "Choose one of them"),
    ],
)
async def test_what_names_nobody(owner, gateway, fields, said):
    page = await owner.upload(await owner.get(NEW), NEW, {**fields, "body": "Bonjour"})
    assert page.status == 422
    assert said in page.text
    assert "Bonjour" in page.text
    assert not asked(gateway, "send") + asked(gateway, "mailing.create")


async def test_a_file_need_not_be_chosen_again(owner, gateway):
    form = await owner.get(NEW)
    page = await owner.upload(form, NEW, {"to": "36123456", "body": "x"}, FILE)
    assert page.status == 422
    assert "<bdi>école.csv</bdi>" in page.text
    kept = {name: page.field(name) for name in ("upload", "upload_name")}
    again = await owner.upload(page, NEW, {"to": "", "body": "x", **kept})
    assert again.location == DRAFT
    assert asked(gateway, "mailing.create")[0]["upload"] == "upl_1"
    assert len(gateway.uploads) == 1
    page = await owner.upload(page, f"{NEW}/count", {"body": "x", **kept, "drop_file": "yes"})
    assert page.status == 200
    assert "école.csv" not in page.text


async def test_a_file_that_is_refused(owner, gateway, monkeypatch):
    file = ("big.csv", b"1" * (FILE_BYTES_MAX + 1))
    page = await owner.upload(await owner.get(NEW), NEW, {"to": "", "body": "Bonjour"}, file)
    assert page.status == 422
    assert "The file is larger than 20 MB." in page.text
    assert "Bonjour" in page.text
    page = await owner.upload(page, f"{NEW}/count", {"to": "", "body": "Bonjour"}, file)
    assert page.status == 422
    assert gateway.uploads == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Invalid("file", "not_a_table", "…"), "The file is no table."),
        (Invalid("file", "cell_too_long", "Row 12: a cell has …"), "Row 12: A cell has more than"),
        (Invalid("file", "no_numbers", "…"), "No column of the file has phone numbers"),
    ],
)
async def test_a_file_that_cannot_be_read(owner, gateway, error, said):
    form = await owner.get(NEW)
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "mailing.create":
            raise error
        return await perform(name, arguments, caller)

    gateway.perform = refuse
    page = await owner.upload(form, NEW, {"to": "", "body": "x"}, FILE)
    assert page.status == 422
    assert said in page.text


async def test_a_form_of_another_site_stores_nothing(owner, gateway):
    form = await owner.get(NEW)
    wrong = {"form_token": "x" * 40, "to": "36123456", "body": "x"}
    page = await owner.upload(form, NEW, wrong, FILE)
    assert page.status == 403
    page = await owner.upload(form, NEW, {"to": ""}, FILE, origin="https://other.example")
    assert page.status == 403
    assert gateway.uploads == []


async def test_a_stranger_s_text_is_kept_and_the_file_is_not(owner, gateway):
    form = await owner.get(NEW)
    owner.cookies.pop("risala")
    same = {"sec_fetch_site": "same-origin"}
    page = await owner.upload(form, NEW, {"to": "36123456"}, FILE, **same)
    assert page.status == 303
    assert page.location.startswith("/sign-in?next=")
    assert gateway.uploads == []


async def test_other_addresses_take_no_large_forms(owner, gateway):
    form = await owner.get(NEW)
    big = ("a.csv", b"1" * 100_000)
    page = await owner.upload(form, "/app/org_1/senders", {"name": "SHOP"}, big)
    assert page.status in (413, 415)
    page = await owner.post(NEW, {"form_token": form.field("form_token"), "body": "x" * 100_000})
    assert page.status == 413


async def test_a_draft_is_made_once(owner, gateway):
    form = await owner.get(NEW)
    for _ in range(2):
        page = await owner.upload(form, NEW, {"to": "36123456,36123457", "body": "x"})
        assert page.location == DRAFT
    assert len(asked(gateway, "mailing.create")) == 1


async def test_a_saved_text_is_inserted(owner):
    page = await owner.get(f"{NEW}?saved=txt_2")
    assert ">السلام عليكم، غاب ابنكم اليوم عن المدرسة.</textarea>" in page.text
    fields = {"body": "Bonjour", "saved": "txt_2", "insert": "yes"}
    page = await owner.upload(page, f"{NEW}/count", fields)
    assert ">Bonjour\nالسلام عليكم، غاب ابنكم اليوم عن المدرسة.</textarea>" in page.text
    page = await owner.upload(page, f"{NEW}/count", {"body": "Bonjour", "saved": "txt_2"})
    assert ">Bonjour</textarea>" in page.text


async def test_a_draft_without_its_time(owner, gateway):
    form = await owner.get(NEW)
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "mailing.set":
            raise Conflict("At most 90 days ahead.")
        return await perform(name, arguments, caller)

    gateway.perform = refuse
    fields = {"to": "36123456,36123457", "body": "x", "send_at": "2036-12-01T08:00"}
    page = await owner.upload(form, NEW, fields)
    assert page.location == DRAFT
    page = await owner.get(DRAFT)
    assert "cannot begin at that time" in page.text


async def test_viewers_write_nothing(reader_as):
    viewer = reader_as(Role.VIEWER)
    assert (await viewer.get(NEW)).status == 403


async def test_the_columns_of_a_chosen_file_are_named_and_put_into_the_text(owner, gateway):
    form = await owner.get(NEW)
    assert "Show its columns" in form.text
    page = await owner.upload(form, f"{NEW}/count", {"to": "", "body": "Bonjour"}, FILE)
    assert page.status == 200
    named = re.findall(r'name="column" value="(.*?)"', page.text)
    assert named == ["Nom", "Classe"]  # the numbers' column is none of the text's
    assert 'data-text="{{Nom}}"' in page.text
    kept = {name: page.field(name) for name in ("upload", "upload_name")}
    fields = {"to": "", "body": "Bonjour", "column": "Nom", **kept}
    page = await owner.upload(page, f"{NEW}/count", fields)
    assert re.search(r"<textarea[^>]*>Bonjour \{\{Nom\}\}</textarea>", page.text)
    assert len(gateway.uploads) == 1


async def test_a_file_that_is_no_table_says_so_before_anything_is_made(owner, gateway):
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "mailing.columns":
            raise Invalid("file", "not_a_table", "The file is no table.")
        return await perform(name, arguments, caller)

    gateway.perform = refuse
    page = await owner.upload(await owner.get(NEW), f"{NEW}/count", {"to": "", "body": "x"}, FILE)
    assert page.status == 422
    assert "The file is no table." in page.text
    assert 'type="file"' in page.text
