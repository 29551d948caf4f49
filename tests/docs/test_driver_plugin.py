"""The driver tutorial, docs/tutorials/write-a-driver.md: as its reader does it, in an environment
apart.

What it shows is the example, which ``risala plugins new acme --http`` writes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from benchmarks.processes import free_port

import clean
from made_once import made_once
from patience import HANG_S, until

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/driver-plugin"
TUTORIAL = ROOT / "docs/tutorials/write-a-driver.md"
TEXT = TUTORIAL.read_text(encoding="utf-8")
SHOWN = re.findall(r"<!-- (file|part of): (\S+) -->\n\n```python\n(.*?\n)```\n", TEXT, re.DOTALL)
COMMANDS = re.findall(r"```(?:sh|console)\n(.*?)```\n", TEXT, re.DOTALL)


def test_what_the_tutorial_shows_is_the_example():
    assert len(SHOWN) == TEXT.count("```python") == 6
    for kind, name, text in SHOWN:
        there = (EXAMPLE / name).read_text(encoding="utf-8")
        assert text == there if kind == "file" else text in there, name


def command(beginning: str) -> str:
    """The one block of the tutorial that begins so."""
    (found,) = [each for each in COMMANDS if each.removeprefix("$ ").startswith(beginning)]
    return found.removeprefix("$ ")


def outside() -> dict[str, str]:
    """The environment of somebody who has nothing to do with this checkout."""
    ours = ("RISALA_", "PYTHON", "VIRTUAL_ENV", "PYTEST_", "COVERAGE_")
    told = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    # Most of what is installed is never imported: what is, Python compiles itself. What pip would
    # fetch is there before it.
    no = "0"  # so both say no: pip reads it as the option's value
    return {**told, "PIP_NO_COMPILE": no, "PIP_NO_BUILD_ISOLATION": no, "PIP_NO_INDEX": "1"}


def sh(text: str, cwd: Path) -> str:
    done = subprocess.run(
        ["bash", "-euc", text],
        cwd=cwd,
        env=outside(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HANG_S * 4,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The package as whoever follows the tutorial has it, installed in its own environment."""
    return made_once(tmp_path_factory, "driver-tutorial", _make) / "drivers"


def _make(folder):
    clean.copy_sources(folder / "risala")
    environment, install = command("mkdir").split("\n.venv/bin/pip", 1)
    *begin, venv = environment.strip().splitlines()
    assert venv == "python3 -m venv .venv"
    sh("\n".join(begin), folder)
    place = folder / "drivers"
    clean.environment(place / ".venv", "risala[testing]", "hatchling", "editables")
    sh(f".venv/bin/pip{install}", place)


@pytest.mark.slow
@pytest.mark.long
def test_its_tests_pass_and_the_report_says_so(made):
    done = sh(command("cd risala-acme"), made)
    assert " failed" not in done
    report = (made / "risala-acme/report.md").read_text(encoding="utf-8")
    assert "## TestAcme: the driver conforms" in report
    assert "| package | risala-acme 0.1.0 |" in report
    assert report.count("| ✓ |") >= 40


@pytest.mark.slow
@pytest.mark.long
def test_risala_finds_it(made):
    typed, *shown = command(".venv/bin/risala plugins").splitlines()
    come = sh(typed, made).splitlines()
    assert [line.split() for line in come] == [line.split() for line in shown]


@pytest.mark.slow
@pytest.mark.long
def test_messages_go_out_whole_and_their_receipts_come_back(made):
    ports = {"8080": str(free_port()), "8091": str(free_port())}

    def moved(text: str) -> str:
        return re.sub("80(80|91)", lambda found: ports[found[0]], text)

    (settings,) = re.findall(r"```toml\n(\[\[carriers.*?)```", TEXT, re.DOTALL)
    (made / "risala.toml").write_text(moved(settings), encoding="utf-8")
    acme = begin(moved(command(".venv/bin/python risala-acme/tests/acme_stand_in.py")), made)
    service = begin(f"{command('ACME_KEY').strip()} --port {ports['8080']}", made)
    try:
        until((made / "risala-data/control.sock").exists, "the service listens")
        until(lambda: "up" in sh(".venv/bin/risala carriers", made), "the carrier is up")
        sh(command(".venv/bin/risala org create"), made)

        def listed() -> list[dict[str, Any]]:
            return json.loads(sh(".venv/bin/risala message list --json", made))["messages"]

        def are_delivered() -> bool:
            return [one["status"] for one in listed()] == ["delivered"] * 2

        until(are_delivered, "the receipts came back")
        curl, status = moved(command("curl")).splitlines()
        assert sh(curl, made).strip() == status
        (long,) = [one for one in listed() if one["segments"] == 3]
        assert "parts=3" in sh(f".venv/bin/risala message show {long['messageId']}", made)
    finally:
        for each in (service, acme):
            each.terminate()
            each.wait(HANG_S)
    unset = settings.replace("url = ", "ulr = ", 1)
    (made / "risala.toml").write_text(moved(unset), encoding="utf-8")
    (faults,) = re.findall(r"```text\n(The settings have.*?)```", TEXT, re.DOTALL)
    refused = f"{command('ACME_KEY').strip()} --port {ports['8080']} || true"
    assert faults.strip() in sh(refused, made)


def begin(text: str, cwd: Path) -> subprocess.Popen[bytes]:
    """A command that goes on; what it is given before its words are variables."""
    words = text.split()
    given = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
    return subprocess.Popen(
        [word for word in words if word.partition("=")[0] not in given],
        cwd=cwd,
        env={**outside(), **given},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
