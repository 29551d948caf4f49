"""The rows of a mailing: by their state, mended in place, left out, and as files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import web_mailings
from risala.engine.features.mailings import rules as reporting
from risala.engine.features.mailings.records import RowState
from risala.engine.features.tables.records import RowFault
from risala.engine.model.errors import Invalid
from risala.http.dashboard.lists import one as faults
from risala.http.dashboard.mailings import report

DRAFT = "/app/org_1/mailings/mlg_draft"
DONE = "/app/org_1/mailings/mlg_done"


def plain(page):
    """The page's words without its tags."""
    return re.sub(r"<[^>]+>", "", page.text).replace("\u00a0", " ")


def asked(gateway, name):
    return [arguments for each, arguments in gateway.done if each == name]


async def test_bad_rows_come_first_with_their_reasons(owner, gateway):
    page = await owner.get(DRAFT)
    assert {"state": "bad", "limit": 5}.items() <= asked(gateway, "mailing.rows")[0].items()
    assert (
        page.text.index('id="rows"') < page.text.index('id="text"') < page.text.index('id="when"')
    )
    assert f'href="{DRAFT}?state=bad#rows"' in page.text
    page = await owner.get(f"{DRAFT}?state=bad")
    for fault in {*RowFault} - {RowFault.NUMBER_UNSERVED}:
        assert faults.FAULTS[fault] in page.text
    assert "Numbers that begin with <bdi>3</bdi> are not served here." in page.text


@pytest.mark.parametrize(
    ("typed", "begin"),
    [("77 12 34 65", "7"), ("+222 77 12 34 65", "7"), ("0022277123465", "7"), ("2223", "2")],
)
async def test_a_number_that_is_not_served_says_how_it_begins(owner, gateway, typed, begin):
    unserved = web_mailings.row(
        2, RowState.BAD, RowFault.NUMBER_UNSERVED, cells=[typed, "Aminetou"]
    )
    page = await _with_rows(owner, gateway, unserved)
    assert f"Numbers that begin with <bdi>{begin}</bdi> are not served here." in page.text


async def test_a_double_says_of_which_row(owner, gateway):
    page = await _with_rows(
        owner, gateway, web_mailings.row(7, RowState.BAD, RowFault.DOUBLE, sameAs=1)
    )
    assert 'as in row <bdi class="num">1</bdi>, which gets the message.' in page.text
    page = await _with_rows(owner, gateway, web_mailings.row(7, RowState.BAD, RowFault.DOUBLE))
    assert "An earlier row has the same number." in page.text


async def _with_rows(owner, gateway, *rows):
    async def perform(name, arguments, caller, perform=gateway.perform):
        answer = await perform(name, arguments, caller)
        return {**answer, "rows": [*rows], "after": None} if name == "mailing.rows" else answer

    gateway.perform = perform
    return await owner.get(DRAFT)


@pytest.mark.parametrize(
    ("query", "state", "after"),
    [
        ("?state=all", None, None),
        ("?state=ready", "ready", None),
        ("?state=bad&after=3", "bad", 3),
    ],
)
async def test_rows_by_their_state(owner, gateway, query, state, after):
    await owner.get(DRAFT + query)
    given = asked(gateway, "mailing.rows")[0]
    assert (given.get("state"), given.get("after")) == (state, after)


async def test_a_state_that_is_none_is_refused(owner):
    assert (await owner.get(f"{DRAFT}?state=x&after=x")).status == 422


async def test_a_long_list_has_pages(owner, gateway):
    table = {"columns": [*web_mailings.COLUMNS], "numberColumn": 0, "after": 27}
    gateway.answers["mailing.rows"] = {**table, "rows": web_mailings.rows()}
    page = await owner.get(f"{DRAFT}?state=bad&after=2")
    assert 'state=bad&amp;after=27#rows"' in page.text
    assert "To the first rows" in page.text


async def test_a_row_is_mended_in_place(owner, gateway):
    page = await owner.get(DRAFT)
    fields = {"cell0": "36 12 34 56", "after": "0", "state": "bad"}
    page = await owner.submit(page, f"{DRAFT}/rows/2", fields)
    assert page.location == f"{DRAFT}?state=bad&after=0#rows"
    [given] = asked(gateway, "mailing.mend")
    assert given["row"] == 2
    assert given["cells"] == ["36 12 34 56", "محمد 2", "سيدي"]
    assert "The row is fixed." in (await owner.get(DRAFT)).text


async def test_a_row_that_is_still_not_right(owner):
    page = await owner.get(DRAFT)
    await owner.submit(page, f"{DRAFT}/rows/2", {"cell0": ""})
    assert "still needs fixing" in (await owner.get(DRAFT)).text


async def test_all_cells_of_a_row(owner, gateway):
    page = await owner.get(f"{DRAFT}/rows/8")
    assert [name in page.text for name in web_mailings.COLUMNS] == [True] * 3
    await owner.submit(page, f"{DRAFT}/rows/8", {"cell1": "x", "cell2": "y"})
    assert asked(gateway, "mailing.mend")[0]["cells"] == ["36120008", "x", "y"]


async def test_a_mended_row_that_is_refused(owner, gateway):
    page = await owner.get(f"{DRAFT}/rows/8")
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "mailing.mend":
            raise Invalid("cells", "invalid_characters", "No.")
        return await perform(name, arguments, caller)

    gateway.perform = refuse
    page = await owner.submit(page, f"{DRAFT}/rows/8", {"cell1": "typed"})
    assert page.status == 422
    assert 'value="typed"' in page.text


@pytest.mark.parametrize("row", ["99", "0", "x", "٣"])
async def test_a_row_that_is_not_there(owner, row):
    assert (await owner.get(f"{DRAFT}/rows/{row}")).status == 404


async def test_rows_are_left_out(owner, gateway):
    page = await owner.get(DRAFT)
    page = await owner.submit(page, f"{DRAFT}/rows/3/leave-out", {"after": "0", "state": "bad"})
    assert page.location == f"{DRAFT}?state=bad&after=0#rows"
    page = await owner.submit(await owner.get(DRAFT), f"{DRAFT}/rows/leave-out")
    assert page.location == DRAFT
    one, every = asked(gateway, "mailing.leave_out")
    assert (one["row"], "row" in every) == (3, False)


async def test_bad_rows_are_a_file(owner):
    page = await owner.get(f"{DRAFT}/rows/file")
    lines = page.text.removeprefix("\ufeff").splitlines()
    assert lines[0] == '"Row","الهاتف","الولي","التلميذ","Reason"'
    assert lines[1] == '"2","bonjour","محمد 2","سيدي","This is not a phone number."'
    assert len(lines) == 1 + len(RowFault)


async def test_the_report_is_a_table(owner, gateway):
    page = await owner.get(f"{DONE}/report?form=csv")
    lines = page.text.removeprefix("\ufeff").splitlines()
    assert lines[0] == (
        '"Row","Number","الهاتف","الولي","التلميذ","State","Reason","Parts","Price","Message"'
    )
    delivered = next(line for line in lines if "Delivered" in line)
    row = delivered.partition(",")[0].strip('"')
    assert f'"\'+2223612{row:0>4}"' in delivered
    assert f'"sms_{row}"' in delivered


async def test_a_country_that_is_not_open_is_named(reader_as, gateway):
    """In the list and in the file, as the reader calls it."""
    row = {**web_mailings.rows()[0], "fault": "not_served", "country": "DE", "state": "bad"}
    table = {"columns": [*web_mailings.COLUMNS], "rows": [row], "after": None}
    gateway.answers["mailing.rows"] = {**table, "numberColumn": 0}
    gateway.answers["mailing.report"] = {**table, "export": 1}
    french = reader_as(language="fr")
    assert "n’est pas ouvert ici : Allemagne" in plain(await french.get(DRAFT))
    told = plain(await french.get(f"{DONE}/report?form=csv"))
    assert "Ce numéro est d’un pays qui n’est pas ouvert ici : Allemagne." in told


def test_a_report_has_a_word_for_each_of_its_own():
    assert {*reporting.HEADINGS} == {*report.HEADINGS}


async def test_a_report_in_french_is_as_excel_there_reads_it(reader_as):
    page = await reader_as(language="fr").get(f"{DONE}/report?form=csv")
    assert '";"' in page.text.splitlines()[0]


async def test_the_report_is_a_workbook(owner, gateway, tmp_path: Path):
    made = tmp_path / "report.xlsx"
    made.write_bytes(b"PK of it")
    told = {"mailing": web_mailings.mailing("mlg_done"), "path": str(made)}
    gateway.answers["mailing.workbook"] = told
    page = await owner.get(f"{DONE}/report?form=xlsx")
    assert page.text == "PK of it"
    assert page.headers["content-type"].endswith("spreadsheetml.sheet")
    assert 'filename="report-mlg_done.xlsx"' in page.headers["content-disposition"]
    made.unlink()
    assert (await owner.get(f"{DONE}/report?form=xlsx")).status == 404
