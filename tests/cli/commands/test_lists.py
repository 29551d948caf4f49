"""``risala list``: what a command says of the people of a file."""

import json

from web_lists import growth, people


def test_what_a_sheet_hides_is_counted_and_can_be_taken_in(asked, operator, tmp_path):
    file = tmp_path / "people.xlsx"
    file.write_bytes(b"PK")
    hiding = {"hiddenRows": 2, "hiddenColumns": 1}
    operator.others["list.create"] = growth("lst_1", **hiding, upload="upl_1")
    command = ("list", "create", "Parents", "--org", "org_1", "--file", str(file))
    done = asked(*command)
    assert done.exit_code == 0, done.output
    told = "The sheet was read without 2 hidden rows and 1 hidden column (--with-hidden)."
    assert told in done.stderr
    given = {"organization_id": "org_1", "name": "Parents", "upload": "upl_1"}
    assert operator.asked[-1] == ("list.create", given)
    assert json.loads(asked(*command, "--json").stdout)["hiddenRows"] == 2

    operator.others["list.add"] = growth("lst_1", **hiding, withHidden=True)
    operator.others["list.show"] = people({"list_id": "lst_1"})
    more = ("--file", str(file), "--with-hidden", "--sheet", "People")
    done = asked("list", "add", "lst_1", *more)
    assert "The sheet was read with 2 hidden rows and 1 hidden column." in done.stderr
    asked_for = operator.asked[-1][1]
    assert (asked_for["with_hidden"], asked_for["sheet"]) == (True, "People")
