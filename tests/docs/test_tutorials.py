"""Tutorials from start to end, in an environment into which nothing but Risala was installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clean import clean_environment
from patience import until

pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clean_environment(tmp_path_factory.mktemp("clean"))


def test_first_message(play, clean):
    page = play("docs/tutorials/first-message.md", prefix=clean)
    demo = page.serve('make serve ARGS="--country KE --data /tmp/risala-demo"')
    page.hear("text", "Risala is running at", demo)
    page.untyped = (". .venv/bin/activate",)
    page.type("sh", "export RISALA_KEY")
    page.type("console", "curl")
    demo.wait_line(lambda line: "  delivered" in line)
    page.type("console", "message show")
    page.type("sh", "مرحبا")
    until(lambda: sum("  delivered" in line for line in demo.lines) == 2, "both are delivered")
    assert {"segments 3 (ucs2)", "price 3.00 KES"} <= {
        re.sub(" +", " ", line) for line in page.shell.run(page.here("risala message show sms_…"))
    }
    first, second = page.type("sh", "order-1001"), page.type("sh", "order-1001")
    assert first == second
    page.type("console", "risala audit")
    inbox = page.type("sh", "cat /tmp/risala-demo/inbox.jsonl")
    assert len(inbox) == 3
    page.type("sh", "STOP")
    until(lambda: "STOP" in "".join(page.run("risala inbound list")), "the answer came in")
    page.type("sh", "START")
    demo.interrupt()


def test_a_usb_modem(play, clean, tmp_path):
    page = play(
        "docs/tutorials/usb-modem.md", {"/tmp/risala-modem": str(tmp_path / "modem")}, clean
    )
    plugged = page.block("sh", "simulate modem")
    modem = page.start(plugged.text.strip(), typed=True)
    page.compared.append(plugged)
    page.hear("text", "02:13:19 port", modem)

    def tell_the_modem(part: str) -> None:
        block = page.block("text", part)
        modem.popen.stdin.write(block.text)
        modem.popen.stdin.flush()
        page.compared.append(block)

    page.type("sh", "export SIM1_PIN")
    page.type("console", "modem probe")
    settings = page.block("toml", "[[carriers]]").text
    (tmp_path / "risala.toml").write_text(page.here(settings))
    service = page.start("SIM1_PIN=1234 risala serve")
    page.compared.append(page.block("sh", "risala serve"))
    service.wait_line(lambda line: line.startswith("Risala is running at "))
    page.type("sh", "org create")
    until(lambda: "is ready" in "".join(page.run("risala carriers")), "the modem is ready")
    page.type("console", "risala carriers\n")
    page.type("sh", "Hello from a stick")
    page.hear("text", "Hello from a stick", modem)
    shown = "delivered     2"
    until(lambda: shown in "\n".join(page.run("risala message show sms_…")), "it is delivered")
    page.type("console", "message show")
    page.type("sh", "inbound route")
    tell_the_modem("sms +222")
    until(lambda: "Thank you" in "".join(page.run("risala inbound list")), "the answer came in")
    page.type("console", "inbound list")
    assert "150" in "".join(page.type("sh", "ask sim-1 balance"))
    tell_the_modem("vanish")
    modem.wait_line(lambda line: " gone " in line)
    page.type("sh", "While it was away")
    page.hear("text", "plugged in", modem)
    page.type("console", "risala audit")
    service.interrupt()
    modem.interrupt()
