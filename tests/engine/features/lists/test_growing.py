"""Recipient lists grow by files, lines and hand, and are read as the rows of a mailing."""

import io
import json

import openpyxl
import pytest

from risala.engine.features.lists.growing import ListGrowing, write_rows
from risala.engine.features.lists.records import FULL, PeopleFilter
from risala.engine.features.lists.tables import PIECE
from risala.engine.features.tables.reading import SheetFault
from risala.engine.features.tables.records import ROWS_MAX, Chosen
from risala.engine.features.tables.uploads import uploads_of
from risala.engine.model.errors import Conflict, Invalid, NotFound

ONE, TWO, THREE = "+22236000001", "+22236000002", "+22236000003"
SHEET = "Téléphone;Nom;Classe\n36000001;Amina;4\n36 00 00 02;علي;5\nabc;Moussa;4\n".encode()
LONG = 1201
"""Rows of three pieces."""

pytestmark = pytest.mark.slow


@pytest.fixture
async def opened(open_house):
    """Its processes and threads are real, and so is its clock."""
    async with open_house(inline=False) as house:
        yield house


@pytest.fixture
def lists(opened):
    return opened.gateway.services.part(ListGrowing)


@pytest.fixture
def mine(opened):
    return opened.principal.organization_id


@pytest.fixture
def uploads(opened):
    return opened.gateway.services.part(uploads_of)


async def uploaded(uploads, organization_id, content, name="people.csv"):
    return await uploads.keep(organization_id, content, name)


async def numbers_of(lists, list_id):
    page = await lists._stored.page(list_id, PeopleFilter(), None, 200)
    return [each.number for each in page.people]


def left_of(uploads):
    """Files of uploads."""
    return [*uploads._folder.iterdir()]


async def test_a_file_makes_a_list_without_the_numbers_column(lists, mine, uploads):
    upload = await uploaded(uploads, mine, SHEET)
    made = await lists.create(mine, "Parents", upload, None, who="amina")
    assert (made.added, made.changed, made.bad, made.bad_rows) == (2, 0, 1, (4,))
    assert (made.list.name, made.list.columns, made.list.people) == (
        "Parents",
        ("Nom", "Classe"),
        2,
    )
    found = await lists._stored.page(made.list.id, PeopleFilter(), None, 10)
    assert [(each.number, each.cells) for each in found.people] == [
        (ONE, ("Amina", "4")),
        (TWO, ("علي", "5")),
    ]
    assert left_of(uploads) == []


async def test_rows_without_a_number_are_told_with_their_reasons(lists, mine, uploads):
    sheet = "Nom;Tél\nA;36000001\nB;36000002 / 46000002\nC;36000003 ext 4\nD;3.6E+7\n"
    upload = await uploaded(uploads, mine, sheet.encode())
    made = await lists.create(mine, "Parents", upload, None, who="amina")
    assert (made.added, made.bad_rows) == (1, (3, 4, 5))
    assert made.faults == ("two_numbers", "extension", "number_shortened")
    upload = await uploaded(uploads, mine, b"Nom;Tel\nB;36000002 / 46000002\n")
    with pytest.raises(SheetFault, match=r"^Row 2: These are two numbers\.") as raised:
        await lists.create(mine, "Others", upload, None, who="amina")
    assert raised.value.faults[0].code == "two_numbers"


def hiding_sheet():
    """A workbook with a hidden row and a hidden column."""
    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in (["Nom", "Tél", "Dette"], ["Bâ", 36000001, "9"], ["Sow", 36000002, "7"]):
        book.active.append(row)
    book.active.title = "Les\u00a0parents "
    book.active.row_dimensions[2].hidden = True
    book.active.column_dimensions["C"].hidden = True
    book.save(out)
    return out.getvalue()


async def test_what_a_sheet_hides_is_counted_and_can_be_taken_in_once(lists, mine, uploads):
    upload = await uploaded(uploads, mine, hiding_sheet(), "people.xlsx")
    made = await lists.create(mine, "Parents", upload, None, who="amina")
    assert (made.added, made.hidden_rows, made.hidden_columns) == (1, 1, 1)
    assert (made.with_hidden, made.upload) == (False, upload)
    assert await numbers_of(lists, made.list.id) == [TWO]
    assert sorted(each.suffix for each in left_of(uploads)) == [".file", ".json"]
    named = Chosen(sheet="Les parents", with_hidden=True)
    whole = await lists.add(made.list.id, made.upload, None, chosen=named)
    assert (whole.added, whole.changed, whole.hidden_rows, whole.hidden_columns) == (1, 1, 1, 1)
    assert (whole.with_hidden, whole.upload, whole.list.columns) == (True, None, ("Nom", "Dette"))
    assert await numbers_of(lists, made.list.id) == [ONE, TWO]
    assert left_of(uploads) == []
    with pytest.raises(NotFound):
        await lists.add(made.list.id, made.upload, None, chosen=named)


async def test_one_file_with_hidden_rows_stays_for_an_organization(lists, mine, uploads):
    made = await lists.create(mine, "Parents", None, None, who="amina")
    for _ in range(3):
        upload = await uploaded(uploads, mine, hiding_sheet(), "people.xlsx")
        assert (await lists.add(made.list.id, upload, None)).upload == upload
        assert {each.stem for each in left_of(uploads)} == {upload}
    with uploads.used(upload, mine):  # somebody takes it in meanwhile
        other = await uploaded(uploads, mine, hiding_sheet(), "people.xlsx")
        await lists.add(made.list.id, other, None)
        assert {each.stem for each in left_of(uploads)} == {upload, other}


async def test_a_country_that_is_not_open_is_named(lists, mine, uploads):
    sheet = "Nom;Tél\nA;36000001\nB;abc\nC;+33 6 12 34 56 78\n"
    upload = await uploaded(uploads, mine, sheet.encode())
    made = await lists.create(mine, "Parents", upload, None, who="amina")
    assert (made.bad_rows, made.faults) == ((3, 4), ("number", "not_served"))
    assert made.countries == (None, "FR")
    upload = await uploaded(uploads, mine, b"Nom;Tel\nC;+33612345678\nA;36000001 / 36000002\n")
    with pytest.raises(SheetFault, match=r"^Row 2: France \(FR\) is not open here: ") as raised:
        await lists.create(mine, "Others", upload, None, who="amina")
    assert raised.value.faults[0].code == "not_served"


async def test_pasted_lines_grow_it_and_doubles_take_the_later_values(lists, mine, uploads):
    made = await lists.create(mine, "Parents", None, "36000001\n36000002", who="amina")
    assert (made.added, made.list.columns) == (2, ())
    more = "number;nom\n36000002;Ali\n36000003;Aïcha\n+222 36 00 00 03;Aïcha Fall\n"
    grown = await lists.add(made.list.id, None, more)
    assert (grown.added, grown.changed, grown.bad, grown.list.people) == (1, 1, 0, 3)
    found = await lists._stored.page(made.list.id, PeopleFilter(), None, 10)
    assert [each.cells for each in found.people] == [("",), ("Ali",), ("Aïcha Fall",)]
    assert left_of(uploads) == []


async def test_a_long_file_is_stored_in_pieces(lists, mine, own_commits, opened):
    lines = "\n".join(str(36_000_000 + row) for row in range(LONG))
    seen = own_commits(opened)
    made = await lists.create(mine, "All", None, lines, who="amina")
    assert len(seen) == -(-LONG // PIECE)
    assert made.list.people == made.added == LONG


async def test_one_person_is_added_by_hand(lists, mine):
    made = await lists.create(mine, "Parents", None, None, who="amina")
    assert (made.list.people, made.added) == (0, 0)
    grown = await lists.add_person(made.list.id, ONE, {"name": "Amina"})
    assert (grown.added, grown.list.columns) == (1, ("name",))
    again = await lists.add_person(made.list.id, ONE, {"Name": "Amina Fall", "class": "4"})
    assert (again.added, again.changed, again.list.columns) == (0, 1, ("name", "class"))
    await lists.add_person(made.list.id, ONE, {})  # by a page that knows no values
    shown = await lists._stored.page(made.list.id, PeopleFilter(), None, 5)
    assert shown.people[0].cells == ("Amina Fall", "4")


async def test_what_is_no_table_of_people_makes_no_list(lists, mine, uploads):
    for content, name in (
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "people.csv"),
        (b"name;class\nAmina;4\n", "people.csv"),
    ):
        upload = await uploaded(uploads, mine, content, name)
        with pytest.raises(Invalid):
            await lists.create(mine, "Parents", upload, None, who="amina")
    with pytest.raises(Invalid):
        await lists.create(mine, "Parents", None, "nobody\nnowhere\n", who="amina")
    assert lists._stored.of_organization(mine) == []
    assert left_of(uploads) == []


async def test_a_refused_name_is_refused_before_the_file_is_read(lists, mine, uploads):
    await lists.create(mine, "Parents", None, None, who="amina")
    upload = await uploaded(uploads, mine, SHEET)
    with pytest.raises(Invalid, match="of this name"):
        await lists.create(mine, "Parents", upload, None, who="amina")
    again = await lists.create(mine, "Pupils", upload, None, who="amina")
    assert again.added == 2


async def test_a_full_list_is_told_before_anything_is_stored(lists, mine, opened):
    made = await lists.create(mine, "All", None, "36000001\n36000002", who="amina")
    commit = opened.gateway.services.recorder.journal.commit
    full = "UPDATE recipient_lists SET people = ?"
    await commit(lambda conn: conn.execute(full, (ROWS_MAX - 1,)))
    # One is on it already, and two are the same: one is new.
    grown = await lists.add(made.list.id, None, "36000001\n36000003\n36000003")
    assert (grown.added, grown.list.people) == (1, ROWS_MAX)
    with pytest.raises(Conflict, match=FULL):
        await lists.add(made.list.id, None, "36000001\n36000004")
    assert await numbers_of(lists, made.list.id) == [ONE, TWO, THREE]


async def test_uploads_of_others_are_not_found(lists, mine, uploads, opened):
    other = (await opened.organization()).organization_id
    upload = await uploaded(uploads, other, SHEET)
    with pytest.raises(NotFound):
        await lists.create(mine, "Parents", upload, None, who="amina")
    assert len(left_of(uploads)) == 2, "it is still theirs"


async def test_a_list_becomes_the_rows_of_a_mailing(lists, mine, opened, tmp_path):
    lines = "\n".join(f"{36_000_000 + row};{row}" for row in range(LONG))
    made = await lists.create(mine, "All", None, f"phone;Number\n{lines}", who="amina")
    path = tmp_path / "rows"
    written = await write_rows(lists._stored, made.list.id, mine, path)
    assert (written.name, written.rows, written.number_column) == ("All", LONG, 0)
    assert written.columns == ("phone", "Number"), "no two columns of a mailing are called alike"
    rows = [json.loads(each) for each in path.read_text().splitlines()]
    assert rows == [[row + 1, [f"+222{36_000_000 + row}", str(row)]] for row in range(LONG)]
    assert path.stat().st_mode & 0o777 == 0o600
    other = (await opened.organization()).organization_id
    with pytest.raises(NotFound):
        await write_rows(lists._stored, made.list.id, other, path)
    empty = await lists.create(mine, "Nobody", None, None, who="amina")
    with pytest.raises(Conflict, match="nobody on this list"):
        await write_rows(lists._stored, empty.list.id, mine, path)
