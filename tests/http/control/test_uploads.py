"""Files over the control socket."""

import os
from collections.abc import AsyncIterator

import httpx2
import pytest
import trio

from patience import HANG_S
from risala.engine.features.tables.records import FILE_BYTES_MAX
from risala.engine.model import errors
from risala.engine.model.callers import CallerKind, operator_by
from risala.http.control.app import create_control, serve_control

PATH = "/uploads?organization=org_1&name=people.csv"


@pytest.fixture
def control(gateway):
    return create_control(gateway).test_client()


async def test_a_file_is_given_on_with_its_name(control, gateway):
    response = await control.post(PATH, data=b"a;b\r\n\xe9\x00")
    assert response.status_code == 200
    assert await response.get_json() == {"upload": "upl_1"}
    assert gateway.uploads == [("org_1", "people.csv", b"a;b\r\n\xe9\x00")]


async def test_an_organization_is_needed(control, gateway):
    response = await control.post("/uploads?name=x", data=b"x")
    assert response.status_code == 400
    assert "`organization`" in (await response.get_json())["message"]
    assert gateway.uploads == []


async def test_a_refusal_keeps_its_sentence(control, gateway):
    gateway.refuse = errors.Invalid("file", "file_too_large", "It is too large.")
    response = await control.post(PATH, data=b"x")
    assert response.status_code == 400
    assert (await response.get_json())["message"] == "It is too large."


async def test_a_head_that_announces_too_much_is_refused_unread(control, gateway):
    response = await control.post(PATH, data=b"", headers={"content-length": str(10**9)})
    assert response.status_code == 413
    assert gateway.uploads == []


class NeverEnding:
    """A gateway that waits for more than anybody sends."""

    async def perform(self, name, arguments, caller):
        raise AssertionError(name)

    async def receive_upload(self, organization_id, chunks, name, caller):
        await trio.sleep_forever()


async def test_a_file_that_does_not_come_is_408(autojump_clock):
    control = create_control(NeverEnding()).test_client()
    response = await control.post(PATH, data=b"x")
    assert response.status_code == 408


async def test_a_large_file_comes_over_the_socket_in_pieces(gateway, settings, tmp_path):
    """Sent without a length, as a pipe would."""
    shutdown, path = trio.Event(), tmp_path / "control.sock"
    piece, pieces = b"x" * 100_000, FILE_BYTES_MAX // 100_000 // 4

    async def content() -> AsyncIterator[bytes]:
        for _ in range(pieces):
            yield piece

    async def serve(*, task_status: trio.TaskStatus[list[str]]) -> None:
        await serve_control(
            gateway, settings.http, tmp_path, shutdown=shutdown, task_status=task_status
        )

    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await nursery.start(serve)
            transport = httpx2.AsyncHTTPTransport(uds=str(path))
            async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
                response = await client.post(PATH, content=content())
                assert response.json() == {"upload": "upl_1"}
            shutdown.set()
    ((organization, name, stored),) = gateway.uploads
    assert (organization, name) == ("org_1", "people.csv")
    assert len(stored) == pieces * len(piece)
    assert gateway.callers == [operator_by(CallerKind.CONTROL, os.getuid())]
