"""The example of the driver tutorial: installed, found, proved, used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from patience import HANG_S

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/driver-plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a machine on which the example is installed as a package."""
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    # Offline: the build tool is here already, and so is Risala.
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, *offline, "--target", str(site), str(EXAMPLE)], check=True)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("RISALA_")},
        "PYTHONPATH": str(site),
        "PYTHONSAFEPATH": "1",
    }


def run(environ, cwd, *words):
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=cwd,
        env=environ,
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )


def test_risala_finds_it(installed, tmp_path):
    found = json.loads(run(installed, tmp_path, "risala", "plugins", "--json").stdout)
    assert {
        "name": "file",
        "source": "package risala-file 0.1.0",
        "drivers": ["file"],
        "mailers": [],
        "payment_methods": [],
        "disabled": False,
        "fault": None,
    } in found["plugins"]


def test_its_own_tests_pass(installed, tmp_path):
    done = run(installed, EXAMPLE, "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    # Else the conformance suite was not collected.
    assert int(done.stdout.strip().splitlines()[-1].split()[0]) >= 15


def test_a_message_ends_in_the_file(installed, tmp_path):
    (tmp_path / "risala.toml").write_text(
        '[[carriers]]\nname = "notes"\ndriver = "file"\n[carriers.file]\npath = "sms.jsonl"\n'
    )

    def risala(*words):
        done = run(installed, tmp_path, "risala", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    risala("org", "create", "Shop")
    risala("topup", "Shop", "10")
    message_id = json.loads(risala("send", "36123456", "Salam", "--json"))["messageId"]
    service = subprocess.Popen(
        [sys.executable, "-m", "risala", "serve", "--port", "0"],
        cwd=tmp_path,
        env=installed,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + HANG_S
        status = None
        while status != "delivered":
            assert time.monotonic() < until, status
            time.sleep(0.1)
            status = json.loads(risala("message", "show", message_id, "--json"))["message"][
                "status"
            ]
    finally:
        service.terminate()
        assert service.wait(HANG_S) == 0
    line = json.loads((tmp_path / "sms.jsonl").read_text(encoding="utf-8"))
    assert (line["to"], line["text"]) == ("+22236123456", "Salam")
