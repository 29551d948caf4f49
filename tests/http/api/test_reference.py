"""The reference names every status and every issue that the code can answer."""

import re
from pathlib import Path
from urllib.parse import urljoin

from proofs import members

from risala.engine.model import errors
from risala.engine.rules import verify_settings
from risala.http.api import batch_reader as batch
from risala.http.api import bodies, fields, verify_bodies
from risala.http.api.openapi.document import document
from risala.http.common import error_words, parse, problems, validation
from risala.http.common.error_words import WORDS

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


def test_the_page_of_members_is_what_the_models_say():
    assert members.render() == members.PAGE.read_text("utf-8"), "`make generated` writes it"


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
            told = PAGE + members.render()
            missing = {name for name in named if not re.search(rf'\b{name}[`"]', told)}
            assert missing == set(), f"{path}: docs/reference tells of these fields"


WORDS_PAGE = (Path(__file__).parents[3] / "docs/reference/error-sentences.md").read_text()


def test_every_word_of_data_code_is_listed_with_its_status():
    _, _, told = WORDS_PAGE.partition("## Words of `data.code`")
    listed = {
        (row[0], int(row[1])) for row in re.findall(r"^\| `([A-Z_]+)` \| (\d+) \|", told, re.M)
    }
    assert listed == {(name, word.status) for name, word in WORDS.items()}


def test_an_error_leads_to_its_word():
    unknown = errors.OutcomeUnknown("…", ("idk_1",))
    assert problems.problem_of(unknown).wire("req_1")["docs"] == "/docs/errors#OUTCOME_UNKNOWN"
    assert problems.plain(404).wire("req_1")["docs"] == "/docs/errors#NOT_FOUND"


async def test_the_page_of_errors_has_each_word(client):
    answer = await client.get(error_words.PAGE)
    page = await answer.get_data(as_text=True)
    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert set(re.findall(r'<section id="([A-Z_]+)"', page)) == {*WORDS, *problems.CODES.values()}
    style = re.search(r'href="(\.\./[^"]+)"', page)[1]
    assert (await client.get(urljoin(error_words.PAGE, style))).status_code == 200


async def test_the_page_of_clients_leads_to_each(client):
    answer = await client.get("/clients/")
    page = await answer.get_data(as_text=True)
    found = re.findall(r'<li>[^<]*<a href="([^"]+)"', page)
    assert {name.rpartition(".")[2] for name in found} == {"js", "whl"}
    for name in found:
        assert (await client.get(f"/clients/{name}")).status_code == 200
