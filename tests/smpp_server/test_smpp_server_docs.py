"""The reference page beside the code."""

import re
from pathlib import Path

from risala.drivers.smpp.protocol.status import STATUSES
from risala.smpp_server import statuses

PAGE = (Path(__file__).parents[2] / "docs/reference/smpp-server.md").read_text(encoding="utf-8")


def test_every_status_that_we_answer_is_on_the_page():
    ours = {
        value
        for name, value in vars(statuses).items()
        if isinstance(value, int) and (name.startswith("ESME_") or name.isupper())
    }
    told = {int(value, 16) for value in re.findall(r"^\| [^|]+ \| (0x[0-9A-F]+) \|", PAGE, re.M)}
    assert told == ours


def test_the_names_of_statuses_are_the_standards():
    for name, value in re.findall(r"^\| `(ESME_\w+)` \| (0x[0-9A-F]+) \|", PAGE, re.M):
        row = STATUSES.get(int(value, 16))
        assert row is None or row.name == name
