"""Pages of recipient lists: all of them, one of them, growing, removing, deleting."""

import re

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, EditConflict, Invalid, NotFound
from risala.engine.model.people import Language
from web_browser import assert_nothing_inline
from web_lists import NUMBERS, growth, recipient_list

LISTS = "/app/org_1/lists"
ONE = f"{LISTS}/lst_1"
BOUNDARY = "----x"


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == name]


async def send_file(reader, page, path, content, **fields):
    """Post a form with a file, as a browser does."""
    marks = {name: page.field(name) for name in ("form_token", "once")}
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in {**marks, **fields}.items()
    ]
    head = 'Content-Disposition: form-data; name="file"; filename="people.csv"'
    parts.append(f"--{BOUNDARY}\r\n{head}\r\nContent-Type: text/csv\r\n\r\n{content}\r\n")
    body = "".join(parts) + f"--{BOUNDARY}--\r\n"
    form = {"content_type": f"multipart/form-data; boundary={BOUNDARY}"}
    return await reader.ask("POST", path, body.encode(), **form)


def plain(page):
    """The page's words without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page.text))


def refuses(gateway, wanted, error):
    """Let one operation be refused."""
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == wanted:
            raise error
        return await perform(name, arguments, caller)

    gateway.perform = refuse


async def test_lists_stand_by_name_with_their_people(owner, gateway):
    gateway.answers["list.list"] = {"lists": [recipient_list(name="Parents <6e>")]}
    page = await owner.get(LISTS)
    assert page.status == 200
    assert_nothing_inline(page)
    assert f'href="{ONE}"' in page.text
    assert "Parents &lt;6e&gt;" in page.text
    assert "<bdi>الفصل</bdi>" in page.text
    assert f'href="{LISTS}" aria-current="page"' in page.text
    assert 'href="/app/org_1/texts"' in page.text


async def test_a_viewer_sees_and_changes_nothing(reader_as, gateway):
    viewer = reader_as(Role.VIEWER)
    for path in (LISTS, ONE):
        page = await viewer.get(path)
        assert page.status == 200
        main = page.text.partition("<main")[2].partition("</main>")[0]
        assert 'method="post"' not in main
        assert "/remove" not in main
        assert "/delete" not in main
    for path in (f"{ONE}/remove", f"{ONE}/delete"):
        assert (await viewer.get(path)).status == 403
    page = await viewer.get(LISTS)
    for path in (LISTS, f"{ONE}/person", f"{ONE}/people", f"{ONE}/name", f"{ONE}/delete"):
        assert (await viewer.submit(page, path, drawn=False)).status == 403
    assert not asked(gateway, "list.create")


async def test_a_file_makes_a_list_and_the_rows_that_were_left_out_are_told(owner, gateway):
    gateway.answers["list.create"] = growth("lst_1", bad=12, badRows=[4, 9])
    page = await owner.get(LISTS)
    made = await send_file(owner, page, LISTS, "Nom;36120001\n", name="Parents")
    assert gateway.uploads == [("org_1", "people.csv", b"Nom;36120001\n")]
    (given,) = asked(gateway, "list.create")
    assert given == {"organization_id": "org_1", "name": "Parents", "upload": "upl_1"}
    assert made.location.startswith(f"{ONE}?")
    told = await owner.get(made.location)
    assert "2 people are added." in plain(told)
    assert "1 was there already and has the new values." in plain(told)
    assert "12 rows have no phone number that can be read" in plain(told)
    assert "<bdi>4, 9, …</bdi>" in told.text


async def test_rows_with_a_reason_of_their_own_say_it(owner, gateway):
    faults = ["number", "two_numbers", "extension"]
    gateway.answers["list.create"] = growth("lst_1", bad=3, badRows=[4, 9, 11], faults=faults)
    page = await owner.get(LISTS)
    made = await send_file(owner, page, LISTS, "Nom;36120001\n", name="Parents")
    told = plain(await owner.get(made.location))
    assert "Row 4:" not in told
    assert "Row 9: These are two numbers. Leave only one of them." in told
    assert "Row 11: This number has an extension" in told


async def test_a_country_that_is_not_open_is_named(owner, gateway):
    faults, countries = ["number", "not_served", "not_served"], [None, "FR", None]
    told = {"badRows": [4, 9, 11], "faults": faults, "countries": countries}
    gateway.answers["list.create"] = growth("lst_1", bad=3, **told)
    page = await owner.get(LISTS)
    made = await send_file(owner, page, LISTS, "Nom;36120001\n", name="Parents")
    told = plain(await owner.get(made.location))
    assert "Row 9: France is not open here: messages go to Mauritania." in told
    assert "Row 11: This number is of a country that is not open here." in told
    page = await owner.get(f"{ONE}?bad=1&rows=4&faults=not_served&countries=<b>")
    assert "Row 4: This number is of a country" in plain(page)


async def test_a_file_without_a_number_names_the_country(owner, gateway):
    said = "Row 2: France (FR) is not open here: messages go to Mauritania. `numbers.countries` in"
    refuses(gateway, "list.create", Invalid("file", "not_served", f"{said} the settings opens it."))
    page = await owner.get(LISTS)
    again = await send_file(owner, page, LISTS, "Nom;+33612345678\n", name="Parents")
    assert "Row 2: France is not open here: messages go to Mauritania." in plain(again)


async def test_what_the_sheet_hides_is_counted_and_taken_in_by_one_click(owner, gateway):
    hiding = {"hiddenRows": 2, "hiddenColumns": 1, "sheet": "People"}
    gateway.answers["list.create"] = growth("lst_1", **hiding, upload="upl_1")
    page = await owner.get(LISTS)
    made = await send_file(owner, page, LISTS, "Nom;36120001\n", name="Parents")
    page = await owner.get(made.location)
    assert_nothing_inline(page)
    assert "This is not read: 2 rows · 1 column" in plain(page)
    gateway.answers["list.add"] = growth("lst_1", **hiding, withHidden=True)
    fields = {"upload": "upl_1", "sheet": "People", "with_hidden": "yes"}
    for name, value in fields.items():
        assert re.search(f'name="{name}"\\s+value="{value}"', page.text)
    taken = await owner.submit(page, f"{ONE}/people", fields)
    assert asked(gateway, "list.add") == [{"list_id": "lst_1", **fields, "with_hidden": True}]
    page = await owner.get(taken.location)
    assert "What the sheet hides is read too: 2 rows · 1 column" in plain(page)
    assert "with_hidden" not in page.text


async def test_a_viewer_reads_what_was_hidden_and_takes_nothing_in(reader_as):
    page = await reader_as(Role.VIEWER).get(f"{ONE}?added=1&hidden_rows=2&upload=upl_1")
    assert "This is not read: 2 rows" in plain(page)
    assert "with_hidden" not in page.text


async def test_a_file_that_is_gone_is_not_taken_in(owner, gateway):
    refuses(gateway, "list.add", NotFound("There is no such upload. Upload the file again."))
    page = await owner.get(ONE)
    again = await owner.submit(page, f"{ONE}/people", {"upload": "upl_1", "with_hidden": "yes"})
    assert again.status == 422
    assert "Upload the file again." in plain(again)


async def test_pasted_lines_make_a_list_once(owner, gateway):
    page = await owner.get(LISTS)
    fields = {"name": "Parents", "numbers": "36120001\r\n36120002"}
    for _ in range(2):
        assert (await owner.submit(page, LISTS, fields)).status == 303
    (given,) = asked(gateway, "list.create")
    assert given["numbers"] == "36120001\n36120002"


async def test_a_list_may_begin_empty(owner, gateway):
    await owner.submit(await owner.get(LISTS), LISTS, {"name": "Parents", "numbers": " "})
    assert asked(gateway, "list.create") == [{"organization_id": "org_1", "name": "Parents"}]


async def test_a_file_and_lines_together_are_refused(owner, gateway):
    page = await owner.get(LISTS)
    again = await send_file(owner, page, LISTS, "x", name="Parents", numbers="36120001")
    assert again.status == 422
    assert "A file or numbers: only one of them." in again.text
    assert not asked(gateway, "list.create")


async def test_where_only_the_name_is_wrong_the_file_need_not_be_chosen_again(owner, gateway):
    refuses(gateway, "list.create", Invalid("name", "same_name", "taken"))
    page = await owner.get(LISTS)
    again = await send_file(owner, page, LISTS, "36120001", name="Parents")
    assert again.status == 422
    assert "This name is taken. Choose another one." in again.text
    assert 'name="upload" value="upl_1"' in again.text
    del gateway.perform
    fields = {"name": "Pupils", "upload": "upl_1", "upload_name": "people.csv"}
    await owner.submit(again, LISTS, fields)
    assert asked(gateway, "list.create")[-1]["upload"] == "upl_1"


@pytest.mark.parametrize(("lines", "field"), [("abc", "numbers"), ("", "file")])
async def test_what_is_wrong_stands_where_it_was_given(owner, gateway, lines, field):
    refuses(gateway, "list.create", Invalid("file", "unheard_of", "No row has a number."))
    page = await owner.get(LISTS)
    again = await owner.submit(page, LISTS, {"name": "Parents", "numbers": lines})
    assert f'id="{field}-fault"' in again.text
    assert "No row has a number." in again.text


async def test_refusals_are_told_in_french(reader_as, gateway):
    reader = reader_as(language=Language.FRENCH)
    full = "An organization can have at most 200 lists. Delete one first."
    refuses(gateway, "list.create", Conflict(full))
    again = await reader.submit(await reader.get(LISTS), LISTS, {"name": "x"})
    assert again.status == 422
    assert "at most" not in again.text


async def test_people_stand_by_number_with_what_belongs_to_them(owner):
    page = await owner.get(ONE)
    assert page.status == 200
    assert_nothing_inline(page)
    assert page.text.count("Opted out") == 1
    assert "1 opted out" in plain(page)
    assert 'data-label="الفصل"' in page.text
    assert f'href="{ONE}?after={NUMBERS[49].replace("+", "%2B")}"' in page.text
    assert 'href="/app/org_1/messages/new?list=lst_1"' in page.text
    last = await owner.get(f"{ONE}?after={NUMBERS[49].replace('+', '%2B')}")
    assert "10 people, by number" in plain(last)
    assert f'href="{ONE}"' in last.text


async def test_a_number_is_found_in_a_long_list(owner, gateway):
    for typed, wanted in (
        ("36120055", {"number": "+22236120055"}),
        ("0055", {"digits": "0055"}),
        ("Fatou", {"contains": "Fatou"}),
    ):
        page = await owner.get(f"{ONE}?q={typed}")
        assert wanted.items() <= asked(gateway, "list.show")[-1].items()
        assert page.status == 200


async def test_an_empty_list_offers_no_message(owner):
    page = await owner.get(f"{LISTS}/lst_empty")
    assert "Nobody is on this list yet" in page.text
    assert "messages/new?list=" not in page.text


async def test_counts_in_the_address_are_only_counts(owner):
    page = await owner.get(f"{ONE}?added=<b>&bad=9999999&rows=1,<i>,2")
    assert page.status == 200
    assert "people are added" not in plain(page)


async def test_one_person_is_added_by_hand(owner, gateway):
    page = await owner.get(ONE)
    fields = {"number": "36 12 99 99", "cell_0": "Moussa", "cell_1": "الخامس"}
    done = await owner.submit(page, f"{ONE}/person", fields)
    assert asked(gateway, "list.add") == [
        {
            "list_id": "lst_1",
            "number": "36 12 99 99",
            "cells": {"Nom": "Moussa", "الفصل": "الخامس"},
        }
    ]
    assert done.location == f"{ONE}?added=2&changed=1"


async def test_what_was_typed_of_a_person_is_still_there(owner, gateway):
    wrong = Invalid("number", "invalid_phone_number", "`number` must look like …")
    refuses(gateway, "list.add", wrong)
    page = await owner.get(ONE)
    again = await owner.submit(page, f"{ONE}/person", {"number": "12", "cell_0": "<Moussa>"})
    assert again.status == 422
    assert 'value="12"' in again.text
    assert "&lt;Moussa&gt;" in again.text


async def test_a_list_grows_by_a_file_or_by_lines(owner, gateway):
    page = await owner.get(ONE)
    await send_file(owner, page, f"{ONE}/people", "36120001")
    page = await owner.get(ONE)
    await owner.submit(page, f"{ONE}/people", {"numbers": "36120002"})
    assert asked(gateway, "list.add") == [
        {"list_id": "lst_1", "upload": "upl_1"},
        {"list_id": "lst_1", "numbers": "36120002"},
    ]


async def test_a_number_is_removed_after_a_question(owner, gateway):
    path = f"{ONE}/remove"
    number = NUMBERS[0].replace("+", "%2B")
    assert f'href="{path}?number={number}"' in (await owner.get(ONE)).text
    page = await owner.get(f"{path}?number={number}")
    assert "Remove this number?" in page.text
    done = await owner.submit(page, path, {"number": NUMBERS[0]})
    assert done.location == ONE
    assert asked(gateway, "list.remove") == [{"list_id": "lst_1", "number": NUMBERS[0]}]
    refuses(gateway, "list.remove", NotFound("The list does not have this number."))
    assert (await owner.submit(page, path, {"number": NUMBERS[0]})).status == 422


async def test_a_list_gets_another_name_unless_somebody_else_gave_it_one(owner, gateway):
    page = await owner.get(ONE)
    done = await owner.submit(page, f"{ONE}/name", {"name": "Pupils"})
    assert done.location == ONE
    assert asked(gateway, "list.set") == [{"list_id": "lst_1", "name": "Pupils", "version": 4}]
    refuses(gateway, "list.set", EditConflict("amina"))
    again = await owner.submit(page, f"{ONE}/name", {"name": "Pupils"})
    assert again.status == 422
    assert "Present values:" in again.text


async def test_a_list_is_deleted_after_a_question(owner, gateway):
    page = await owner.get(f"{ONE}/delete")
    assert "with 60 people on it" in plain(page)
    done = await owner.submit(page, f"{ONE}/delete")
    assert done.location == LISTS
    assert asked(gateway, "list.delete") == [{"list_id": "lst_1"}]
    assert "The list is deleted." in (await owner.get(LISTS)).text


async def test_a_list_of_another_organization_is_not_there(owner):
    assert (await owner.get(f"{LISTS}/none")).status == 404
