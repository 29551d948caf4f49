"""The reference names every status and every issue that the code can answer."""

import re
from pathlib import Path

from risala.engine.rules import verify_settings
from risala.http.api import batch_reader as batch
from risala.http.api import bodies, fields, verify_bodies
from risala.http.common import parse, problems, validation

PAGE = (Path(__file__).parents[3] / "docs/reference/http-api.md").read_text()


def test_every_status():
    for status, code in problems.CODES.items():
        if status not in (409, 431):  # the operator's only; answered before there is a path
            assert re.search(rf"\| {status} \| `{code}` \|", PAGE), status


def test_every_issue():
    rooms = (batch, bodies, fields, parse, validation, verify_bodies)
    source = "".join(Path(room.__file__).read_text() for room in rooms)
    codes = set(validation._CODES.values()) | set(parse._SENTENCES)
    made = r'(?:fault\(|Issue\(\w+, |_bad_list\(|CustomError\(\s*)"(\w+)"'
    codes |= set(re.findall(made, source)) - set(validation._CODES)
    judged = Path(verify_settings.__file__).read_text()
    codes |= set(re.findall(r'FieldFault\((?:"\w+"|\w+), "(\w+)"', judged))
    codes.discard("invalid_setting")  # the operator's only, by the command line
    assert {"invalid_json", "invalid_sender", "too_deep", "too_far", "not_a_list"} <= codes
    assert {"invalid_locale", "not_registered"} <= codes
    assert {code for code in codes if f"`{code}`" not in PAGE} == set()
