"""What callers of hooks without a balance cost another organization's sends, in a real service."""

from __future__ import annotations

import http.client
import json
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.flows.conftest import Account, Service

from processes import Process
from proofs.budgets.hooks import HOLES, many

CALLERS: Final = 6
SENDS: Final = 200
LONGEST_S: Final = 20.0
"""One kind of callers is watched for so long, if the sends take longer than usual."""
_MESSAGES: Final = 20
"""Of the request by a mapping: with a hundred, a service without a budget stands for minutes."""


def measure(source: str) -> None:
    """Print the median and the longest answer of sends, alone and beside each kind of callers.

    Args:
        source: another folder's source, such as the one before a change; empty: this one's.
    """
    with tempfile.TemporaryDirectory() as folder, _service(Path(folder), source) as service:
        sender, poor = service.organization("100000"), service.organization(None)
        mapping = {
            "to": "request",
            "proofs": ["bearer"],
            "answer": "json",
            "sends": "text",
            "mapping": {"each": "/m", "to": "=1", "text": "{{/x/*}}" * HOLES, "reads": "json"},
        }
        alerts = _hook(service, poor, preset="alertmanager", numbers=["+22236123456"])
        own = _hook(service, poor, preset="custom", mapping=json.dumps(mapping), proof="bearer")
        items = many(b"{}", b'{"alerts":[', b"]}")
        begin = b'{"m":[' + b",".join([b"[]"] * _MESSAGES) + b'],"x":['
        product = many(b"null", begin, b"]}")
        for words, callers, hook, body in (
            ("alone", 0, alerts, b""),
            (f"{CALLERS} callers of alertmanager", CALLERS, alerts, items),
            (f"one caller of a mapping, {HOLES} holes", 1, own, product),
        ):
            answers: Counter[int] = Counter()
            with _calling(service, callers, hook, body, answers):
                took = _sends(service, sender)
            told = ", ".join(f"{count} × {status}" for status, count in sorted(answers.items()))
            print(
                f"{words}: {len(took)} sends, median {statistics.median(took):.1f} ms, "
                f"longest {max(took):.0f} ms; callers: {told or 'none'}",
                flush=True,
            )


@contextmanager
def _service(folder: Path, source: str) -> Iterator[Service]:
    processes: list[Process] = []
    config = folder / "risala.toml"
    config.write_text('[[carriers]]\nname = "loop"\ndriver = "loopback"\n', "utf-8")
    service = Service(folder / "data", ("--config", str(config)), processes)
    if source:
        service.environment["PYTHONPATH"] = str(Path(source).resolve() / "src")
    try:
        service.start()
        service.wait_ready()
        yield service
    finally:
        service.close()
        for each in processes:
            each.end()


def _hook(service: Service, whose: Account, **more: object) -> tuple[str, str]:
    """The path and the secret."""
    made = service.perform("hook.create", organization_id=whose.organization_id, **more)
    return f"/hooks/{made['hook']['id']}", made["secret"]


@contextmanager
def _calling(
    service: Service, callers: int, hook: tuple[str, str], body: bytes, answers: Counter[int]
) -> Iterator[None]:
    over = threading.Event()
    path, secret = hook
    headers = {"content-type": "application/json", "authorization": f"Bearer {secret}"}

    def call() -> None:
        while not over.is_set():
            with _connection(service) as connection:
                connection.request("POST", path, body, headers)
                answers[connection.getresponse().status] += 1

    threads = [threading.Thread(target=call, daemon=True) for _ in range(callers)]
    for each in threads:
        each.start()
    time.sleep(0.2)
    try:
        yield
    finally:
        over.set()
        for each in threads:
            each.join()


@contextmanager
def _connection(service: Service) -> Iterator[http.client.HTTPConnection]:
    host, _, port = service.url.removeprefix("http://").rstrip("/").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=600)
    try:
        yield connection
    finally:
        connection.close()


def _sends(service: Service, account: Account) -> list[float]:
    """Milliseconds of each answer."""
    took: list[float] = []
    began_s = time.monotonic()
    for number in range(SENDS):
        at_s = time.perf_counter()
        answer = service.send(account, body=f"Hello {number}")
        took.append((time.perf_counter() - at_s) * 1000)
        if answer.status_code != 200:
            print(answer.text, file=sys.stderr)
        if time.monotonic() - began_s > LONGEST_S:
            break
    return took
