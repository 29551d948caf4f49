"""A load of keep-alive HTTP/1.1 requests, light enough not to be what is measured.

Run as a process of its own: reads a JSON job from standard input, prints a JSON result.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable

import trio

SECONDS_MAX = 60.0


async def _one_client(
    address: tuple[str, int], build: Callable[[], bytes], until: float, latencies: list[float]
) -> int:
    stream = await trio.open_tcp_stream(*address)
    stream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    refused = 0
    async with stream:
        while time.perf_counter() < until:
            started = time.perf_counter()
            await stream.send_all(build())
            status = await _response(stream)
            latencies.append(time.perf_counter() - started)
            refused += status != 200
    return refused


async def _response(stream: trio.SocketStream) -> int:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await _some(stream)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    )
    missing = length - len(body)
    while missing > 0:
        missing -= len(await _some(stream))
    return int(head[9:12])


async def _some(stream: trio.SocketStream) -> bytes:
    chunk = await stream.receive_some(65536)
    if not chunk:
        raise ConnectionError("the server closed the connection")
    return bytes(chunk)


def _request_of(job: dict) -> Callable[[], bytes]:
    head = (
        f"POST {job['path']} HTTP/1.1\r\nHost: bench\r\nx-api-key: {job['key']}\r\n"
        "Content-Type: application/json\r\n"
    )
    item = json.dumps({"to": "+22236123456", "body": "A message of an ordinary length, 60 chars."})
    batch = job.get("batch", 0)
    body = f'{{"messages": [{", ".join([item] * batch)}]}}' if batch else item
    request = f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
    return lambda: request


async def _run(job: dict) -> dict:
    latencies: list[float] = []
    refused = 0
    started = time.perf_counter()
    until = started + min(job["seconds"], SECONDS_MAX)
    build = _request_of(job)

    async def client() -> None:
        nonlocal refused
        refused += await _one_client(("127.0.0.1", job["port"]), build, until, latencies)

    async with trio.open_nursery() as nursery:
        for _ in range(job["connections"]):
            nursery.start_soon(client)
    elapsed = time.perf_counter() - started
    latencies.sort()
    return {
        "per_s": len(latencies) * max(1, job.get("batch", 0)) / elapsed,
        "p50_ms": 1000 * latencies[len(latencies) // 2],
        "p99_ms": 1000 * latencies[int(len(latencies) * 0.99)],
        "refused": refused,
    }


if __name__ == "__main__":
    print(json.dumps(trio.run(_run, json.load(sys.stdin))))
