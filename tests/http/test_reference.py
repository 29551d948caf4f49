"""The reference names every status and every issue that the code can answer."""

import re
from pathlib import Path

from risala.http import bodies, parse, problems

PAGE = (Path(__file__).parents[2] / "docs/reference/http-api.md").read_text()


def test_every_status():
    for status, code in problems.CODES.items():
        if status not in (409, 431):  # the operator's only; answered before there is a path
            assert re.search(rf"\| {status} \| `{code}` \|", PAGE), status


def test_every_issue():
    source = Path(parse.__file__).read_text() + Path(bodies.__file__).read_text()
    codes = set(bodies._CODES.values())
    codes |= set(re.findall(r'(?:_fault\(|Issue\(path, |CustomError\(\s*)"(\w+)"', source))
    assert {"invalid_json", "invalid_sender", "too_deep", "not_an_object"} <= codes
    assert {code for code in codes if f"`{code}`" not in PAGE} == set()
