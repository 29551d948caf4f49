"""Codes over the whole service: they are nowhere but on the phone, and attempts never go back."""

from __future__ import annotations

import re
import signal

import httpx2
import pytest
import trio

pytestmark = [pytest.mark.slow, pytest.mark.long]


def send_code(service, key: str, to: str) -> str:
    answer = service.client.post("/api/verify/send", json={"to": to}, headers={"x-api-key": key})
    assert answer.status_code == 200, answer.text
    return answer.json()["verificationId"]


def check(service, key: str, verification_id: str, code: str) -> str:
    body = {"verificationId": verification_id, "code": code}
    answer = service.client.post("/api/verify/check", json=body, headers={"x-api-key": key})
    return answer.json()["status"]


def get(service, account, verification_id: str) -> dict:
    body = {"verificationId": verification_id}
    return service.client.post("/api/verify/get", json=body, headers=account.headers).json()


def code_for(simulator, to: str, conftest_until) -> str:
    def arrived() -> str | None:
        texts = [each.text for each in simulator.received() if each.recipient.endswith(to[1:])]
        return re.search(r"\d{6}", texts[-1]).group() if texts else None

    return conftest_until(arrived, f"a code for {to}")


def test_no_code_is_in_anything_that_the_service_wrote(premises, until):
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    service = premises.running(simulator)
    account = service.organization()
    numbers = [f"+2223600000{n}" for n in range(8)]
    sent = {to: send_code(service, account.secret_key, to) for to in numbers}
    codes = {to: code_for(simulator, to, until) for to in numbers}
    assert check(service, account.secret_key, sent[numbers[0]], codes[numbers[0]]) == "approved"
    assert check(service, account.secret_key, sent[numbers[1]], "000001") == "denied"
    answers = [get(service, account, each) for each in sent.values()]
    for verification_id in sent.values():
        answers.append(service.perform("verify.get", verification_id=verification_id))
        message_id = answers[-1]["messageId"]
        answers.append(service.perform("message.show", message_id=message_id))
    outputs = [service.command("verify", "get", each).stdout for each in sent.values()]
    service.stop()
    files = {path: path.read_bytes() for path in service.data.rglob("*") if path.is_file()}
    process = service.process
    written = "\n".join([*process.lines, *process.errors, repr(answers), *outputs]).encode()
    assert any(b"{{code}}" in content for content in files.values())
    for code in codes.values():
        assert code.encode() not in written
        assert [path for path, content in files.items() if code.encode() in content] == []


async def test_attempts_never_go_back_over_a_kill(premises, until):
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    service = premises.running(simulator)
    account = service.organization()
    service.perform("verify.config", organization_id=account.organization_id, attempts_max=100)
    verification_id = send_code(service, account.secret_key, "+22236000000")
    denied = 0
    for _ in range(3):

        async def guess(client: httpx2.AsyncClient) -> None:
            nonlocal denied
            body = {"verificationId": verification_id, "code": "guess"}
            try:
                for _ in range(20):
                    answer = await client.post(
                        "/api/verify/check", json=body, headers=account.headers
                    )
                    assert answer.json() == {"status": "denied"}
                    denied += 1
            except httpx2.HTTPError:
                return

        enough = denied + 8
        async with service.async_client() as client, trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(guess, client)
            while denied < enough:  # noqa: ASYNC110 -- answers of another process
                await trio.sleep(0.001)
            service.process.signal(signal.SIGKILL)
        service.process.wait_exit()
        service.restart()
        shown = get(service, account, verification_id)
        assert min(denied, 100) <= shown["attempts"] <= 100
    code = code_for(simulator, "+22236000000", until)
    expected = "approved" if shown["status"] == "pending" else "denied"
    assert check(service, account.secret_key, verification_id, code) == expected
    service.assert_books_agree()
