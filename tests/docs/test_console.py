"""What the pages show on a screen is what comes: commands are typed, their output compared."""

from __future__ import annotations

import json
import re

import pytest

from doc_blocks import ROOT
from patience import until
from rehearsal import Rehearsal, differences


def wait_text(rehearsal: Rehearsal, part: str) -> None:
    """Until the service in the first terminal beside the shell has said it."""
    rehearsal.terminals[1].wait_line(lambda line: part in line)


# -- the pages ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.long
def test_readme(play):
    page = play("README.md")
    demo = page.serve('make serve ARGS="--country KE --data /tmp/risala-demo"')
    demo.wait_line(lambda line: line.startswith("Stop with"))
    key = json.loads((page.place / "demo/demo.json").read_text())["secret_key"]
    page.words["sk_live_…"] = key
    page.type("console", "curl -s http")
    page.hear("text", "pending", demo)
    demo.interrupt()


@pytest.mark.slow
@pytest.mark.long
def test_connect_an_smpp_carrier(play):
    page = play("docs/how-to/connect-an-smpp-carrier.md")
    page.type("sh", "risala init")
    first = page.block("sh", "--password s3cret\n")
    simulator = page.start(first.text.strip() + " --port 0")
    page.compared.append(first)
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
    bad_day = page.block("sh", "--scenario")
    page.words["examples/"] = f"{ROOT}/examples/"
    page.start(bad_day.text.strip() + " --port 0").wait_line(lambda line: "127.0.0.1:" in line)
    page.compared.append(bad_day)


@pytest.mark.slow
def test_cli(play):
    page = play("docs/reference/cli.md")
    page.type("console", "org create")


def codes_read(demo):
    """The codes that came to the demo's phones."""
    return re.findall(r"reads, from .*(\d{6})", "\n".join(demo.lines))


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
    until(lambda: codes_read(demo), "the code is read")
    page.words["042137"] = codes_read(demo)[-1]
    page.type("console", "verify/check")
    page.type("console", "verify/get")
    page.type("sh", "--type publishable")
    page.type("sh", "key challenge")
    sent, check, get = (command for command, _ in page.block("sh", "verify check").commands)
    page.run(sent)
    until(lambda: len(codes_read(demo)) == 2, "the second code is read")
    page.words["042137"] = codes_read(demo)[-1]
    for command in (check, get):
        page.run(command)
    page.compared.append(page.block("sh", "verify check"))
    page.type("console", "verify fix")
    assert "{{expiry_minutes}}" in "\n".join(page.type("sh", "verify config"))

    served = {**page.words, "+33612345678": "+22236123456"}  # this demo is at home elsewhere
    api = Rehearsal(ROOT / "docs/reference/http-api.md", page.place, {}, served)
    page.terminals.append(api.shell.process)
    api.shell.run(f"export RISALA_KEY={json.loads(facts.read_text())['secret_key']}")
    api.type("console", "curl")
    api.end()
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
    page.serve("risala serve")
    page.rest()


@pytest.mark.slow
@pytest.mark.long
def test_delete_data(play):
    page = play("docs/how-to/delete-data.md")
    page.shell.run("risala org create Baraka && risala topup 100 && risala send 36123456 Salam")
    page.type("console", "kept forget")
    page.rest()


PARENTS = """\
Prénom;Téléphone;Classe
Aïcha;36 12 34 56;CM1
Sidi;+222 46 12 34 57;CM2
Mariem;٢٦١٢٣٤٥٨;CM1
Oumar;36 12 34;CM2
Fatou;36123456;CM1
Salma;22 12 34 59;
"""


@pytest.mark.slow
@pytest.mark.long
def test_write_to_everyone_on_a_list(play):
    page = play("docs/how-to/write-to-everyone-on-a-list.md")
    (page.place / "parents.csv").write_text(PARENTS, encoding="utf-8")
    page.serve('make serve ARGS="--data /tmp/risala-demo"')
    page.shell.run(page.here("export RISALA_DATA=/tmp/risala-demo"))
    page.rest()


@pytest.mark.slow
@pytest.mark.long
def test_raise_an_alarm(play):
    page = play("docs/how-to/raise-an-alarm.md")
    page.serve('make serve ARGS="--data /tmp/risala-demo"')
    page.shell.run(page.here("export RISALA_DATA=/tmp/risala-demo"))
    page.rest()


@pytest.mark.slow
@pytest.mark.long
def test_write_to_a_school(play):
    page = play("docs/tutorials/write-to-a-school.md")
    page.untyped = (". .venv/bin/activate",)  # it is the shell's already
    ((_, table),) = page.block("console", "cat parents.csv").commands
    (page.place / "parents.csv").write_text("\n".join(table), encoding="utf-8")
    demo = page.serve('make serve ARGS="--data /tmp/risala-demo"')
    page.rest()
    demo.wait_line(lambda line: "Dear Fatma, school begins again" in line)
    assert not any("Dear Sidi, school begins again" in line for line in demo.lines)


# -- the rehearsal itself ----------------------------------------------------------------------


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
