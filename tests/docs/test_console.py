"""What the pages show on a screen is what comes: commands are typed, their output compared."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from patience import until
from rehearsal import ROOT, Rehearsal, blocks_of, differences

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
DEMO = "/tmp/risala-demo"

Play = Callable[..., Rehearsal]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    started: list[Rehearsal] = []

    def start(page: str, **environ: str) -> Rehearsal:
        started.append(Rehearsal(ROOT / page, tmp_path, environ, {DEMO: str(tmp_path / "demo")}))
        return started[-1]

    yield start
    for each in started:
        each.end()


def wait_text(rehearsal: Rehearsal, part: str) -> None:
    """Until the service in the first terminal beside the shell has said it."""
    rehearsal.terminals[1].wait_line(lambda line: part in line)


# -- the pages ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_readme(play):
    page = play("README.md")
    demo = page.serve('make serve ARGS="--data /tmp/risala-demo"')
    demo.wait_line(lambda line: line.startswith("Stop with"))
    key = json.loads((page.place / "demo/demo.json").read_text())["secret_key"]
    page.words["sk_live_…"] = key
    page.type("console", "curl -s http")
    page.hear("text", "pending", demo)
    shown = json.loads("".join(page.type("sh", "/api/sms/get")))
    assert shown["status"] == "delivered"
    page.compare("json", '"carrier"', (page.place / "demo/inbox.jsonl").read_text().splitlines())
    demo.interrupt()


@pytest.mark.slow
def test_first_message(play):
    page = play("docs/tutorials/first-message.md")
    demo = page.serve('make serve ARGS="--data /tmp/risala-demo"')
    page.hear("text", "Risala is running at", demo)
    page.untyped = (". .venv/bin/activate",)
    page.type("sh", "export RISALA_KEY")
    page.type("console", "curl")
    demo.wait_line(lambda line: "  delivered" in line)
    page.type("console", "message show")
    page.type("sh", "مرحبا")
    until(lambda: sum("  delivered" in line for line in demo.lines) == 2, "both are delivered")
    assert {"segments 3 (ucs2)", "price 1.50 MRU"} <= {
        re.sub(" +", " ", line) for line in page.shell.run(page.here("risala message show sms_…"))
    }
    first, second = page.type("sh", "order-1001"), page.type("sh", "order-1001")
    assert first == second
    page.type("console", "risala audit")
    inbox = page.type("sh", "cat /tmp/risala-demo/inbox.jsonl")
    assert len(inbox) == 3
    demo.interrupt()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the tutorial's ``pip install`` brings, in a folder and not in our environment."""
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    example = ROOT / "examples/driver-plugin"
    subprocess.run([*pip, *offline, "--target", str(site), str(example)], check=True)
    return site


@pytest.mark.slow
@pytest.mark.long
def test_write_a_driver(play, installed):
    page = play("docs/tutorials/write-a-driver.md", PYTHONPATH=str(installed))
    page.untyped = (".venv/bin/pip install",)  # see the fixture
    page.type("console", "plugins")
    settings = page.block("toml", "[[carriers]]").text
    (page.place / "risala.toml").write_text(settings)
    service = page.serve("risala serve")
    page.type("sh", "cat sms.jsonl")
    until(lambda: (page.place / "sms.jsonl").exists(), "the driver has written")
    until(lambda: (page.place / "sms.jsonl").read_text().endswith("\n"), "the whole line")
    page.compare("json", '"part"', (page.place / "sms.jsonl").read_text().splitlines())
    service.interrupt()
    (page.place / "risala.toml").write_text(settings.replace("path =", "paht ="))
    page.compare("text", "paht", page.shell.run("risala serve"))


@pytest.mark.slow
@pytest.mark.long
def test_connect_an_smpp_carrier(play):
    page = play("docs/how-to/connect-an-smpp-carrier.md")
    page.type("sh", "risala init")
    simulator = page.start("risala simulate smsc --system-id risala --password s3cret --port 0")
    port = simulator.wait_line(lambda line: "127.0.0.1:" in line).split(";")[0].split(":")[-1]
    carrier = page.block("toml", "MATTEL_PASSWORD").text
    carrier = carrier.replace("smsc.example.net", "127.0.0.1").replace("2775", port)
    with (page.place / "risala.toml").open("a") as file:
        file.write(carrier)
    service = page.serve(page.block("sh", "risala serve").text)
    page.shell.run("export MATTEL_PASSWORD=s3cret")
    page.type("sh", "org create")
    page.hear("text", "bound", simulator)
    page.type("console", "risala carriers")
    page.type("console", "key create")
    service.interrupt()
    simulator.interrupt()


@pytest.mark.slow
@pytest.mark.long
def test_cli(play):
    page = play("docs/reference/cli.md")
    page.type("console", "org create")


@pytest.mark.slow
@pytest.mark.long
def test_http_api_and_verify_a_phone_number(play):
    page = play("docs/how-to/verify-a-phone-number.md")
    demo = page.serve('make serve ARGS="--data /tmp/risala-demo"')
    demo.wait_line(lambda line: line.startswith("Stop with"))
    facts = page.place / "demo/demo.json"
    page.shell.run(f"export RISALA_DATA={facts.parent}")
    page.shell.run(f"export RISALA_KEY={json.loads(facts.read_text())['secret_key']}")
    page.type("console", "verify/send")
    said = demo.wait_line(lambda line: re.search(r"reads, from .*\d{6}", line) is not None)
    page.words["042137"] = re.findall(r"\d{6}", said)[-1]
    page.type("console", "verify/check")
    page.type("console", "verify/get")
    page.shell.run('risala org create "My shop"')
    assert "{{expiry_minutes}}" in "\n".join(page.shell.run(
        page.here(page.block("console", "verify config").commands[0][0])
    ))  # fmt: skip

    api = Rehearsal(ROOT / "docs/reference/http-api.md", page.place, {}, page.words)
    page.terminals.append(api.shell.process)
    api.shell.run(f"export RISALA_KEY={json.loads(facts.read_text())['secret_key']}")
    api.type("console", "curl")
    demo.interrupt()


@pytest.mark.slow
@pytest.mark.long
def test_forget_what_is_old(play):
    page = play("docs/how-to/forget-what-is-old.md")
    demo = page.serve('make serve ARGS="--data /tmp/risala-demo"')
    page.shell.run(page.here("export RISALA_DATA=/tmp/risala-demo"))
    page.shell.run("risala send 36123456 Salam")
    demo.wait_line(lambda line: "  delivered" in line)
    page.type("console", "retention show")
    demo.interrupt()


@pytest.mark.slow
@pytest.mark.long
def test_what_an_organization_keeps(play):
    page = play("docs/how-to/what-an-organization-keeps.md")
    page.shell.run("risala org create Baraka")
    page.type("console", "kept show")


@pytest.mark.slow
@pytest.mark.long
def test_delete_data(play):
    page = play("docs/how-to/delete-data.md")
    page.shell.run("risala org create Baraka && risala topup 100 && risala send 36123456 Salam")
    page.type("console", "kept forget")


# -- the rehearsal itself ----------------------------------------------------------------------


def test_every_page_with_a_console_is_rehearsed():
    source = Path(__file__).read_text(encoding="utf-8")
    for page in PAGES:
        if any(block.language == "console" for block in blocks_of(page)):
            assert f'"{page.relative_to(ROOT)}"' in source


def test_what_differs_in_words_is_noticed_and_what_differs_by_nature_is_not():
    shown = ["id  sms_…", "at  2026-11-21 02:13:19.354  balance  997.50 MRU"]
    said = [
        "id     sms_06GZ000000000000000000ABCD",
        "at   2027-01-01 00:00:00.000  balance  1.00",
    ]
    assert differences(shown[:1], said[:1]) == []
    (wrong,) = differences(shown, said)
    assert "997.50" in wrong
    assert differences(["a"], []) == ["page: 'a'\nreal: ''"]
    assert differences([], ["a"]) == ["page: ''\nreal: 'a'"]
