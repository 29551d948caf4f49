"""A disk that is full, for real: sends are refused, nothing is half done, and all comes back."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from click.testing import Result

from patience import HANG_S

CONFIG = """
[[carriers]]
name = "loop"
driver = "loopback"
rate_per_s = 1000
"""
DISK_BYTES = 16_000_000
"""Room for the WAL as it is between two checkpoints, and little more."""

REFUSALS = 10
"""In a row, after which nothing fits any more."""


def command(mount: Path, *arguments: object) -> list[str]:
    """Run something in a namespace where ``mount`` is a small disk of its own."""
    script = f'mount -t tmpfs -o size={DISK_BYTES},mode=0700 tmpfs "$1"; shift; exec "$@"'
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", script, "sh"]
    return [*unshare, str(mount), *map(str, arguments)]


def possible(mount: Path) -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run(command(mount, "true"), capture_output=True).returncode == 0


@dataclass
class SmallDisk:
    """A service whose data directory is on a small disk, seen from outside."""

    process: subprocess.Popen
    data: Path
    client: httpx2.Client
    risala: Callable[..., Result]

    def send(self, key: str) -> httpx2.Response:
        body = {"to": "+22236123456", "body": "x" * 1000, "idempotencyKey": key}
        return self.client.post("/api/sms", json=body)

    def status(self, message_id: str) -> str:
        return self.client.post("/api/sms/get", json={"messageId": message_id}).json()["status"]

    def run(self, *arguments: str) -> dict:
        done = self.risala(*arguments, "--data", str(self.data), "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def fill(self) -> None:
        with open(self.data / "ballast", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 4096)
            except OSError:
                return


@pytest.fixture
def disk(tmp_path, risala) -> Iterator[SmallDisk]:
    mount = tmp_path / "data"
    mount.mkdir()
    if not possible(mount):
        pytest.skip("no namespaces here to mount a small disk in")
    (tmp_path / "risala.toml").write_text(CONFIG)
    process = subprocess.Popen(
        command(mount, sys.executable, "-m", "risala", "serve", "--data", mount, "--port", "0"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        url = process.stdout.readline().split()[-1]
        with httpx2.Client(base_url=url, trust_env=False, timeout=HANG_S) as client:
            disk = SmallDisk(process, Path(f"/proc/{process.pid}/root{mount}"), client, risala)
            disk.run("org", "create", "Shop")
            disk.run("topup", "10000")
            client.headers["x-api-key"] = disk.run("key", "create")["value"]
            yield disk
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not os.path.exists("/proc/self/root"), reason="needs Linux")
def test_full_means_503_and_then_everything_again(disk):
    accepted = [f"before-{number}" for number in range(20)]
    assert [disk.send(key).status_code for key in accepted] == [200] * 20
    first = disk.send(accepted[0]).content

    disk.fill()
    refused = refused_for_good(disk, accepted)
    answer = disk.send(refused)
    assert answer.status_code == 503
    assert answer.json()["code"] == "SERVICE_UNAVAILABLE"
    assert answer.headers["retry-after"] == "10"
    assert disk.send(accepted[0]).content == first  # what is known is answered all the same
    assert disk.client.get("/healthz").status_code == 200

    (disk.data / "ballast").unlink()
    again = disk.send(refused)
    assert again.status_code == 200  # a refused request left no trace of its key
    accepted += [refused, *(f"afterwards-{number}" for number in range(20))]
    assert [disk.send(key).status_code for key in accepted[-20:]] == [200] * 20

    deadline = time.monotonic() + HANG_S
    ids = [disk.send(key).json()["messageId"] for key in accepted]
    while left := [each for each in ids if disk.status(each) != "delivered"]:
        assert time.monotonic() < deadline, left
    audit = disk.run("audit")
    assert audit["clean"], audit["faults"]
    assert audit["messages"] == len(set(accepted))
    assert audit["entries"] == len(set(accepted)) + 1
    disk.process.send_signal(signal.SIGTERM)
    _, log = disk.process.communicate(timeout=HANG_S)
    assert disk.process.returncode == 0, log


def taken(disk: SmallDisk, key: str, accepted: list[str]) -> bool:
    status = disk.send(key).status_code
    if status == 200:
        accepted.append(key)
    return status == 200


def refused_for_good(disk: SmallDisk, accepted: list[str]) -> str:
    """A key that is refused again and again.

    What the WAL has room for already goes on for a while, and after a first refusal something
    smaller may fit still.
    """
    for number in range(3000):
        key = f"while-full-{number}"
        if not any(taken(disk, key, accepted) for _ in range(REFUSALS)):
            return key
    raise AssertionError("the disk is not full")
