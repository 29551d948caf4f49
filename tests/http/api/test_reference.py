"""The reference names every status and every issue that the code can answer."""

import re
from pathlib import Path

from risala.engine.rules import verify_settings
from risala.http.api import batch_reader as batch
from risala.http.api import bodies, fields, verify_bodies
from risala.http.api.openapi.document import document
from risala.http.common import parse, problems, validation

PAGE = (Path(__file__).parents[3] / "docs/reference/http-api.md").read_text()
DOCUMENT = document()
DEPTH = 4
"""Fields within fields that are looked at: a delivery within a list within an answer."""


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


def test_every_path_is_on_the_page_and_every_heading_is_a_path():
    told = set(re.findall(r"`(?:GET |POST )?(/[\w/.-]+)`", PAGE))
    assert set(DOCUMENT["paths"]) - told == set()
    headed = re.findall(r"`(?:GET|POST) (/[\w/.-]+)`", "".join(re.findall(r"^##+ .*$", PAGE, re.M)))
    assert set(headed) - set(DOCUMENT["paths"]) == set()


def names_in(schema: dict, depth: int = 0) -> set[str]:
    """The names of a body's fields, and of those within them."""
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if depth > DEPTH:
        return set()
    inner = [part for key in ("anyOf", "oneOf", "allOf") for part in schema.get(key, ())]
    inner += [*schema.get("properties", {}).values(), schema.get("items", {})]
    return set(schema.get("properties", ())).union(*(names_in(part, depth + 1) for part in inner))


def test_every_field_that_is_asked_for_or_answered_is_on_the_page():
    for path, methods in DOCUMENT["paths"].items():
        for operation in methods.values():
            bodies_of = [operation.get("requestBody", {}), operation["responses"].get("200", {})]
            named = {
                name
                for body in bodies_of
                for content in body.get("content", {}).values()
                for name in names_in(content.get("schema", {}))
            }
            missing = {name for name in named if not re.search(rf'\b{name}[`"]', PAGE)}
            assert missing == set(), f"docs/reference/http-api.md, {path}: tell of these fields"
