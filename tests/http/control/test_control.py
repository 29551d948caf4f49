"""The control socket: operations by name, answered in the API's shapes."""

import os

import httpx2
import pytest
import trio

from patience import HANG_S
from risala.engine.model import errors
from risala.engine.model.callers import Caller, CallerKind, Role, operator_by
from risala.http.control.app import create_control, serve_control


@pytest.fixture
def control(gateway):
    return create_control(gateway).test_client()


async def perform(control, body, status: int) -> dict:
    response = await control.post("/perform", json=body)
    assert response.status_code == status
    return await response.get_json()


async def test_an_operation_is_performed(control, gateway):
    body = {"operation": "echo", "arguments": {"a": [1, None, "ب"]}}
    assert await perform(control, body, 200) == {"result": {"echo": {"a": [1, None, "ب"]}}}
    assert gateway.operations == [("echo", {"a": [1, None, "ب"]})]


async def test_arguments_may_be_omitted(control, gateway):
    await perform(control, {"operation": "echo"}, 200)
    assert gateway.operations == [("echo", {})]


@pytest.mark.parametrize(
    "body", [{}, {"operation": ""}, {"operation": 1}, {"operation": "echo", "arguments": []}, []]
)
async def test_a_bad_body_is_400(control, gateway, body):
    assert (await perform(control, body, 400))["data"]["issues"]
    assert gateway.operations == []


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (errors.NotFound("No such key."), 404),
        (errors.Conflict("It is deleted."), 409),
        (errors.StorageFailed(), 503),
    ],
)
async def test_a_refusal_keeps_its_sentence(control, gateway, refusal, status):
    gateway.refuse = refusal
    payload = await perform(control, {"operation": "echo"}, status)
    assert payload["message"] == str(refusal)


async def test_who_is_not_known_is_not_made_up(control, gateway):
    """The test's client comes by no socket of the kernel's."""
    await perform(control, {"operation": "echo"}, 200)
    assert gateway.callers == [Caller("a user of this machine", CallerKind.CONTROL, Role.OPERATOR)]


async def test_served_on_a_socket_that_goes_with_the_service(gateway, settings, tmp_path):
    shutdown = trio.Event()
    path = tmp_path / "control.sock"

    async def serve(*, task_status: trio.TaskStatus[list[str]]) -> None:
        await serve_control(
            gateway, settings.http, tmp_path, shutdown=shutdown, task_status=task_status
        )

    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await nursery.start(serve)
            transport = httpx2.AsyncHTTPTransport(uds=str(path))
            async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
                response = await client.post("/perform", json={"operation": "echo"})
                assert response.json() == {"result": {"echo": {}}}
                assert gateway.callers == [operator_by(CallerKind.CONTROL, os.getuid())]
            shutdown.set()
    assert not path.exists()
