"""What came in, and who has opted out of your messages."""

import csv
import io
import re

import pytest

from filter_sweep import refuse_place
from risala.engine.model.callers import Role
from risala.engine.model.errors import FieldFault, Invalid
from web_verify import ARABIC, opt_outs, received

PAGE = "/app/org_1/inbound"
LIST = f"{PAGE}/opt-outs"


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == name]


async def test_what_came_in_is_shown_as_text(owner):
    page = await owner.get(PAGE)
    assert page.status == 200
    assert ARABIC in page.text
    assert ">Sent <time" in page.text
    assert "arrivé &lt;3" in page.text
    assert f'href="{PAGE}?before=inb_9"' in page.text


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "labelled this text as UCS-2; it was read as ASCII, because that is what its"),
        ("fr", "a annoncé ce texte comme : UCS-2. Il a été lu comme : ASCII"),
        ("ar", "أن ترميز هذا النص هو UCS-2، لكنه قُرئ على أنه ASCII"),
    ],
)
async def test_a_text_that_was_not_read_as_labelled_says_so(reader_as, gateway, language, told):
    labels = ("labelled ucs2, read as ascii", "labelled header, read as gsm7", None)
    found = [received(number, label=label) for number, label in enumerate(labels)]
    page = {"messages": found, "newer": None, "older": None, "lookedTo": None}
    gateway.answers["inbound.list"] = page
    text = (await reader_as(language=language).get(PAGE)).text.replace("\u00a0", " ")
    assert told in text
    assert text.count('<div class="tiny dim">') == 2 + 2  # of which two say when it was sent


async def test_a_number_is_searched_for_as_it_is_typed(owner, gateway):
    page = await owner.get(f"{PAGE}?q=36+12+34+56&before=inb_5")
    (wanted,) = asked(gateway, "inbound.list")
    assert (wanted["from"], wanted["before"]) == ("+22236123456", "inb_5")
    assert 'class="chip"' in page.text
    page = await owner.get(f"{PAGE}?q=1234")
    assert asked(gateway, "inbound.list")[1]["digits"] == "1234"
    assert 'Number with <code dir="auto">1234</code>' in page.text
    page = await owner.get(f"{PAGE}?q=salam")
    assert asked(gateway, "inbound.list")[2]["contains"] == "salam"
    assert "With “<bdi>salam</bdi>”" in page.text


async def test_what_came_in_is_a_file_part_by_part(owner, gateway):
    page = await owner.get(f"{PAGE}?q=36123456")
    assert f'href="{PAGE}/file?q=36123456"' in page.text
    parts = [
        {"messages": [received(n)], "newer": None, "older": older, "lookedTo": None}
        for n, older in ((0, "inb_9"), (1, None))
    ]
    asked_for = []

    async def perform(name, arguments, caller, perform=gateway.perform):
        if name != "inbound.list":
            return await perform(name, arguments, caller)
        asked_for.append(arguments)
        return parts[len(asked_for) - 1]

    gateway.perform = perform
    page = await owner.get(f"{PAGE}/file?q=36123456")
    assert page.headers["content-disposition"] == 'attachment; filename="inbound-2026-11-21.csv"'
    head, *rows = csv.reader(io.StringIO(page.text.removeprefix("\ufeff"), newline=""))
    assert head == ["messageId", "receivedAt", "from", "to", "text", "carrier"]
    assert [row[0] for row in rows] == [each["messages"][0]["id"] for each in parts]
    assert rows[0][2].startswith("'+222")  # a spreadsheet keeps it whole
    one, two = asked_for
    assert (one["from"], one["limit"]) == ("+22236123456", 200)
    assert two == {**one, "before": "inb_9"}


@pytest.mark.parametrize("language", ["fr", "ar"])
async def test_the_file_of_texts_is_one_for_the_readers_spreadsheet(reader_as, gateway, language):
    empty = {"messages": [], "newer": None, "older": None, "lookedTo": None}
    gateway.answers["inbound.list"] = empty
    reader = reader_as(language=language)
    page = await reader.get(f"{PAGE}/file")
    assert page.text.startswith('\ufeff"messageId";"receivedAt"')
    assert f"{PAGE}/file" not in (await reader.get(PAGE)).text


async def test_our_number_is_written_as_all_numbers_are(owner):
    page = await owner.get(PAGE)
    [cell, *_] = re.findall(r'data-label="To">(.*?)</td>', page.text)
    assert cell.startswith('<bdi class="tel"')


@pytest.mark.parametrize("path", [PAGE, LIST])
async def test_a_place_that_nobody_made_is_refused(owner, gateway, path):
    refuse_place(gateway, "inbound.")
    page = await owner.get(f"{path}?before=%27&q=36123456")
    assert page.status == 422
    assert "There is no such place in the list." in page.text
    assert '<input type="hidden" name="q" value="36123456">' in page.text


async def test_nothing_yet_is_told(owner, gateway):
    nothing = {"messages": [], "newer": None, "older": None, "lookedTo": None}
    gateway.answers["inbound.list"] = nothing
    assert "Nothing has come in yet" in (await owner.get(PAGE)).text
    assert "Nothing that came in fits this" in (await owner.get(f"{PAGE}?q=36123456")).text


async def test_who_opted_out_stands_with_who_says_so(owner):
    page = await owner.get(LIST)
    assert 'They wrote <code dir="auto">STOP</code>' in page.text
    assert "sidi@baraka.example" in page.text
    assert "Stop respecting opt-outs" in page.text


async def test_who_works_at_the_machine_is_the_operator(owner, gateway):
    found = {**(await gateway.perform("inbound.opt_outs", {}, None))}
    found["numbers"] = [{**found["numbers"][0], "who": "root"}]
    gateway.answers["inbound.opt_outs"] = found
    page = await owner.get(LIST)
    assert "The operator of this service" in page.text
    assert "root" not in page.text


async def test_an_opt_out_is_noted_and_taken_back(owner, gateway):
    form = await owner.get(LIST)
    page = await owner.submit(form, LIST, {"number": "36 12 34 56"})
    assert (page.status, page.location) == (303, LIST)
    assert asked(gateway, "inbound.opt_out")[0]["number"] == "36 12 34 56"
    assert "Noted: this number" in (await owner.get(LIST)).text
    page = await owner.submit(form, f"{LIST}/back", {"taken": "+22236123456"})
    assert page.status == 303
    assert asked(gateway, "inbound.opt_in")[0]["number"] == "+22236123456"


async def test_what_is_no_number_comes_back_with_its_fault(owner, gateway):
    form = await owner.get(LIST)

    async def perform(name, arguments, caller, perform=gateway.perform):
        if name == "inbound.opt_out":
            raise Invalid.of([FieldFault("number", "invalid_phone_number", "No.")])
        return await perform(name, arguments, caller)

    gateway.perform = perform
    page = await owner.submit(form, LIST, {"number": "<b>12"})
    assert page.status == 422
    assert 'id="number-fault"' in page.text
    assert 'value="&lt;b&gt;12"' in page.text


@pytest.mark.parametrize(("heeds", "says"), [(False, "yes"), (True, "no")])
async def test_stop_is_heeded_or_not(owner, gateway, heeds, says):
    gateway.answers["inbound.opt_outs"] = {**opt_outs(), "heeds": heeds}
    form = await owner.get(LIST)
    assert ("still get your messages" in form.text) is not heeds
    page = await owner.submit(form, f"{LIST}/heed", {"heed": says})
    assert page.status == 303
    assert asked(gateway, "inbound.opt_outs")[-1]["heeds"] is not heeds


async def test_a_viewer_sees_and_does_not_do(reader_as):
    page = await reader_as(Role.VIEWER).get(LIST)
    assert page.status == 200
    assert "form_token" not in page.text.partition("<main")[2]
