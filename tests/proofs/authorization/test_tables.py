"""What is expected names all that there is, and the reference page says it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from proofs.authorization import expected, page
from proofs.authorization.__main__ import PAGE

from risala.config.model import Settings
from risala.drivers.faces.kannel import KANNEL
from risala.drivers.faces.playsms import PLAYSMS
from risala.drivers.faces.smsgate import SMSGATE
from risala.drivers.faces.twilio.compat import TWILIO
from risala.engine.gateway.table import OPERATIONS
from risala.http.api.agents import mount
from risala.http.api.openapi.document import document_bytes
from risala.http.common.failed_keys import AnswerTally
from risala.http.common.plain import PlainRoutes
from risala.http.control.app import create_control
from risala.http.control.routes import add_tail
from risala.http.dashboard.app import ROUTES as CUSTOMERS
from risala.http.operator.app import ROUTES as OPERATORS
from risala.http.web.face import PageAccess


def test_the_page_is_what_the_tables_say():
    told = "`make generated` writes it; look at what has changed"
    assert PAGE.read_text("utf-8") == page.render(), told


@pytest.mark.slow
async def test_each_address_beside_the_pages_is_expected(city):
    rules = {
        re.sub(r"(?<=assets/).*", "<name>", each.rule) for each in city.api.url_map.iter_rules()
    }
    assert {*city.api.plain.paths(), *rules} == set(expected.API)
    faces = (each.build(each.settings()) for each in (KANNEL, PLAYSMS, SMSGATE, TWILIO))
    assert {path.path for face in faces for path in face.paths} == set(expected.FACES)
    agents = SimpleNamespace(
        plain=PlainRoutes(body_bytes_max=1, body_timeout_s=1, tally=AnswerTally(), failed_keys=None)
    )
    mount(SimpleNamespace(app=agents, gateway=None, settings=Settings()))
    assert set(agents.plain.paths()) == set(expected.OF_AGENTS)
    pages = {route.path for route in (*CUSTOMERS, *OPERATORS)}
    beside = {
        each.rule for app in (city.dashboard, city.console) for each in app.url_map.iter_rules()
    }
    assert beside - pages == set(expected.BESIDE_PAGES)


def test_each_path_of_the_control_socket_is_expected():
    app = create_control(None)
    add_tail(app, None)
    rules = {each.rule for each in app.url_map.iter_rules()}
    assert {*app.plain.paths(), *rules} == set(expected.SOCKET)


def test_each_caller_has_an_expectation_at_each_door():
    assert set(expected.ASKED) == set(expected.Asker)
    assert set(expected.VISITED) == set(expected.Visitor)
    for told in expected.ASKED.values():
        assert set(told) == {expected.Door.OPEN, expected.Door.CODES, expected.Door.SECRET}
    for who, visited in expected.VISITED.items():
        wanted = {PageAccess.PUBLIC, PageAccess.OPERATOR}
        assert set(visited) == (wanted if who is expected.Visitor.OPERATOR else set(PageAccess)), (
            who
        )


def test_each_id_in_an_address_or_a_body_is_somebodys():
    # `whose`: the way to an organization's identity provider, which is for everybody; `chapter`: of
    # the handbook.
    others = {"token", "method", "month", "preset", "row", "whose", "chapter"}
    assert page.places(CUSTOMERS) - others == set(expected.PLACES)
    schemas = json.loads(document_bytes())["components"]["schemas"]
    asked = {
        name
        for title, schema in schemas.items()
        if title.endswith("Body")
        for name in schema.get("properties", {})
        if name.endswith("Id")
    }
    assert asked == set(expected.THINGS)


def test_each_command_is_expected():
    """A command that opens no data directory is on the list of those, with why."""
    free = {
        name
        for name, command in page.commands().items()
        if "data" not in {option.name for option in command.params}
    }
    assert free == set(expected.WITHOUT_DATA)


def test_each_operation_is_on_the_page():
    text = Path(PAGE).read_text("utf-8")
    assert all(f"| `{name}` |" in text for name in OPERATIONS)


async def test_only_the_services_user_opens_the_control_socket(tmp_path):
    from risala.http.server.sockets import listen_control

    with listen_control(tmp_path):
        await trio.lowlevel.checkpoint()
        (socket,) = (each for each in tmp_path.iterdir() if each.is_socket())
        assert socket.stat().st_mode & 0o777 == 0o600
