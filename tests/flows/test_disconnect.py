"""A client that goes away in mid-request leaves nothing, or a whole accepted message."""

from __future__ import annotations

import json
import random
import socket
import struct

import pytest
import trio

from patience import HANG_S

pytestmark = pytest.mark.slow

TIMES = 50
TO = "+22236123456"


def request(account, key):
    """Head and body of a send."""
    body = json.dumps({"to": TO, "body": key, "idempotencyKey": key}).encode()
    head = (
        "POST /api/sms HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        f"x-api-key: {account.secret_key}\r\ncontent-length: {len(body)}\r\n\r\n"
    ).encode()
    return head, body


async def test_half_a_request_leaves_nothing_and_a_whole_one_all_or_nothing(shared_service):
    service, account = shared_service, shared_service.organization()
    rng = random.Random(7)
    host, port = service.url.removeprefix("http://").split(":")
    limit = trio.CapacityLimiter(10)

    async def visit(kind, number):
        head, body = request(account, f"{kind} {number:03d}")
        pieces = {
            "half headers": [head[: rng.randrange(1, len(head))]],
            "half body": [head, body[: rng.randrange(len(body))]],
            "whole": [head + body],
            "whole in two": [head, body],
        }[kind]
        async with limit, await trio.open_tcp_stream(host, int(port)) as stream:
            for piece in pieces:
                await stream.send_all(piece)
            if rng.random() < 0.5:
                await trio.sleep(rng.uniform(0, 0.01))
            if rng.random() < 0.5:
                # Not a farewell but a reset.
                linger = struct.pack("ii", 1, 0)
                stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    kinds = ("half headers", "half body", "whole", "whole in two")
    async with trio.open_nursery() as nursery:
        for number in range(TIMES):
            for kind in kinds:
                nursery.start_soon(visit, kind, number)

    service.assert_whole()
    halves = service.rows("SELECT body FROM messages WHERE body LIKE 'half%'")
    assert halves == []
    # It lives, and whoever comes again with the same key gets the one message of that key.
    for kind in kinds:
        for number in range(TIMES):
            key = f"{kind} {number:03d}"
            assert service.send(account, body=key, idempotencyKey=key).status_code == 200
    rows = service.rows("SELECT count(*), count(DISTINCT body) FROM messages")
    assert rows == [(TIMES * len(kinds), TIMES * len(kinds))]
    assert service.balance(account) == f"{1000 - TIMES * len(kinds) / 2:.2f}"
    service.wait_settled()
    statistics = service.perform("statistics")
    assert statistics["gateway"]["intake"] == 0
    service.assert_whole()
    service.assert_books_agree()
    service.assert_no_bug_logged()


def test_a_refusal_before_the_body_does_not_hang_the_next_request(shared_service, until):
    """The answer may leave before the body came; the connection is then used again or closed."""
    service, account = shared_service, shared_service.organization()
    host, port = service.url.removeprefix("http://").split(":")
    head, body = request(account, "early-refusal")
    head = head.replace(account.secret_key.encode(), b"sk_live_unknown")
    for _ in range(5):
        with socket.create_connection((host, int(port)), timeout=HANG_S) as sock:
            sock.sendall(head)
            answer = sock.recv(65536)
            assert answer.startswith(b"HTTP/1.1 401 ")
            try:
                sock.sendall(body + head + body)
                while len(answer) < 1500 and (piece := sock.recv(65536)):
                    answer += piece
            except (ConnectionResetError, BrokenPipeError):
                continue
            assert answer.count(b"HTTP/1.1 401 ") in (1, 2)
