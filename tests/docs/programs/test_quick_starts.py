"""The programs of docs/quick-start, as a reader copies them, against a running service.

Each language that this machine has is run: it sends, reads the state, verifies, and takes in a
webhook that the service's own library signed. Dart is parsed: Debian has none. Go is run where
somebody has it: to compile takes it longer than all the others run. What the dashboard
shows in a language stands on its page, letter for letter.
"""

from __future__ import annotations

import base64
import html
import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks

from doc_blocks import ROOT, blocks_of
from patience import HANG_S, until
from processes import Process, environment
from risala.http.dashboard.snippets import number_of, send_snippets, verifying
from risala.sms.numbering.plan import DEFAULT

NUMBER = number_of(DEFAULT, is_test=False)
TEST_NUMBER = number_of(DEFAULT, is_test=True)
URL = "http://127.0.0.1:8080"
PAGES = {
    "curl": "docs/quick-start/curl.md",
    "Python": "docs/quick-start/python.md",
    "JavaScript": "docs/quick-start/javascript.md",
    "PHP": "docs/quick-start/php.md",
    "Dart": "docs/quick-start/dart.md",
    "Java": "docs/quick-start/java.md",
    "Go": "docs/quick-start/go.md",
}
MODULE = ROOT / "clients/javascript/risala.js"
CLIENT = {"PYTHONPATH": str(ROOT / "src")}
"""Where `risala.client` is; `tests/flows/clients/test_wheel.py` tries it as it is installed."""
SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
BODY = json.dumps({"type": "sms.sent", "id": "evt_1", "createdAt": "2026-11-21T03:19:47.670Z",
                   "organizationId": "org_1", "test": True, "messageId": "sms_1", "to": NUMBER,
                   "from": "RISALA", "status": "sent"})  # fmt: skip
RUNS = {
    "curl": ("sh", "{file}"),
    "Python": (sys.executable, "{file}"),
    "JavaScript": ("node", "{file}"),
    "PHP": ("php", "-d", "display_errors=stderr", "{file}"),
    "Java": ("java", "{file}"),
    "Go": ("go", "run", "{file}"),
}
"""How a language runs a program in a file."""
NAMES = {"curl": "it.sh", "Python": "it.py", "JavaScript": "it.mjs", "PHP": "it.php", "Go": "it.go"}
LISTENS = RUNS | {"PHP": ("php", "-S", "127.0.0.1:{port}", "{file}")}
TRIED = [
    name for name, command in RUNS.items() if shutil.which("curl" if name == "curl" else command[0])
]
LISTENERS = [name for name in TRIED if name != "curl"]


def marked(languages: list[str]) -> list[Any]:
    """`make test` runs what Python and the shell run; the others take a runtime's start each."""
    ours = ("Python", "curl")
    return [
        name if name in ours else pytest.param(name, marks=pytest.mark.long) for name in languages
    ]


MARKED = marked(TRIED)


def programs(language: str) -> list[str]:
    """The blocks of a page, from top to bottom."""
    return [block.text for block in blocks_of(ROOT / PAGES[language])]


def written(place: Path, language: str, program: str, **words: str) -> Path:
    """A program in a file, with a running service's words in place of the page's."""
    for word, becomes in ({NUMBER: TEST_NUMBER} | words).items():
        program = program.replace(word, becomes)
    name = NAMES.get(language)
    if language == "Java":  # a public class lies in a file of its name
        name = re.search(r"public class (\w+)", program)[1] + ".java"
    shutil.copy(MODULE, place / MODULE.name)
    path = place / name
    path.write_text(program, "utf-8")
    return path


# -- the pages and the dashboard ---------------------------------------------------------------


def shown(programs_of) -> dict[str, str]:
    """What a reader of the dashboard copies, in each language that it has."""
    marked = programs_of(URL, NUMBER)
    return {name: html.unescape(re.sub("</?i>", "", text)) for name, text in marked}


@pytest.mark.parametrize("language", PAGES)
def test_the_dashboard_shows_what_the_page_does(language):
    """The program that verifies letter for letter; of the one that sends, which goes on to read the
    state on some pages, how it asks and what it asks."""
    blocks = [block.rstrip("\n") for block in programs(language)]
    assert shown(verifying).get(language, blocks[1]) in blocks
    whole = shown(send_snippets).get(language, blocks[0])
    if whole not in blocks:
        helper, _, asked = whole.rpartition("\n\n")
        helper = helper[helper.find("  static String risala") :] if language == "Java" else helper
        [call] = re.findall(r"""risala\(["']/api/sms["'],.*?\\?["']Bonjour\\?["'][^)]*\)""", asked)
        assert any(helper in block and call in block for block in blocks)


def test_every_language_has_a_page():
    assert {*shown(send_snippets), *shown(verifying)} == {*PAGES}
    found = {str(path.relative_to(ROOT)) for path in ROOT.glob("docs/quick-start/*.md")}
    assert found == {*PAGES.values()}


@pytest.mark.parametrize("language", PAGES)
def test_a_page_holds_no_secret(language):
    text = (ROOT / PAGES[language]).read_text("utf-8")
    assert not re.search(r"(?:[sp]k_(?:live|test)_|whsec_)\w", text)


# -- run ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Iterator[dict[str, str]]:
    data = tmp_path_factory.mktemp("demo")
    options = ("--demo", "--port", "0", "--data", str(data))
    process = Process((sys.executable, "-m", "risala", "serve", *options), data)
    try:
        process.wait_line(lambda line: line.startswith("Stop with"))
        yield json.loads((data / "demo.json").read_text())
    finally:
        process.end()


def run(language: str, program: str, place: Path, demo: dict[str, str], typed: str = "") -> str:
    path = written(place, language, program, **{URL: demo["base_url"]})
    done = subprocess.run(
        [word.format(file=path) for word in RUNS[language]],
        cwd=place,
        input=typed,
        env=environment() | CLIENT | {"RISALA_KEY": demo["test_secret_key"]},
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("language", [each for each in MARKED if each != "curl"])
def test_it_sends_and_reads_the_state(demo, language, tmp_path):
    said = run(language, programs(language)[0], tmp_path, demo)
    message_id, status = said.splitlines()[-2:]
    assert re.fullmatch(r"sms_[0-9A-Z]{32}", message_id)
    assert status in ("pending", "processing", "sent", "delivered")


@pytest.mark.slow
@pytest.mark.skipif("curl" not in TRIED, reason="curl is not there")
def test_curl_sends_and_reads_the_state(demo, tmp_path):
    send, read, *_ = programs("curl")
    sent = json.loads(run("curl", send, tmp_path, demo))
    shown = run("curl", read.replace("sms_…", sent["messageId"]), tmp_path, demo)
    assert json.loads(shown)["messageId"] == sent["messageId"]


@pytest.mark.slow
@pytest.mark.parametrize("language", MARKED)
@pytest.mark.parametrize(("code", "status"), [("000000", "approved"), ("000001", "denied")])
def test_it_verifies(demo, language, tmp_path, code, status):
    program = programs(language)[2 if language == "curl" else 1]
    assert status in run(language, program, tmp_path, demo, typed=f"{code}\n")


@pytest.mark.slow
@pytest.mark.parametrize("language", marked(["Python", "JavaScript", "curl"]))
def test_a_text_of_the_user_proves_the_number(demo, language, tmp_path):
    if language in TRIED:
        program = next(each for each in programs(language) if "inbound_sms" in each)
        # By numbers with the end of TEST_NUMBER nothing comes to a test key.
        program = program.replace(NUMBER, NUMBER[:-2] + "57")
        assert "approved" in run(language, program, tmp_path, demo)


@pytest.mark.slow
@pytest.mark.parametrize("language", marked(["Python", "JavaScript"]))
@pytest.mark.parametrize("nth", [-2, -1])
def test_the_programs_without_a_package_run_too(demo, language, tmp_path, nth):
    if language in TRIED:
        said = run(language, programs(language)[nth], tmp_path, demo, typed="000000\n")
        assert re.search("approved|sms_", said)


def headers(body: str, secret: str = SECRET) -> dict[str, str]:
    now = datetime.now(UTC).replace(microsecond=0)
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": standardwebhooks.Webhook(secret).sign("evt_1", now, body),
        "content-type": "application/json",
    }


def answered(port: int, told: dict[str, str], body: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_S)
    connection.request("POST", "/", body.encode(), told)
    status = connection.getresponse().status
    connection.close()
    return status


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("language", marked(LISTENERS))
def test_it_takes_in_what_the_service_signed_and_nothing_else(language, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = written(tmp_path, language, programs(language)[2], **{"9000": str(port)})
    command = [word.format(file=path, port=port) for word in LISTENS[language]]
    more = CLIENT | {"RISALA_WEBHOOK_SECRET": SECRET}
    process = Process(command, tmp_path, **more)
    try:
        until(lambda: is_open(port), f"{language} listens")
        other = "whsec_" + base64.b64encode(b"o" * 32).decode()
        assert answered(port, headers(BODY), BODY) == 204
        assert answered(port, headers(BODY), BODY + " ") == 400
        assert answered(port, headers(BODY, other), BODY) == 400
        old = headers(BODY) | {"webhook-timestamp": str(int(time.time()) - 1000)}
        assert answered(port, old, BODY) == 400
        # A rotation: two signatures, the second by the secret that is known here.
        both = f"{headers(BODY, other)['webhook-signature']} {headers(BODY)['webhook-signature']}"
        assert answered(port, headers(BODY) | {"webhook-signature": both}, BODY) == 204
        hears = process.wait_error if language == "PHP" else process.wait_line
        assert hears(lambda line: "evt_1" in line)
    finally:
        process.end()


@pytest.mark.slow
def test_a_shell_checks_a_signature(tmp_path):
    told = headers(BODY)
    known = {
        "RISALA_WEBHOOK_SECRET": SECRET,
        "ID": told["webhook-id"],
        "AT": told["webhook-timestamp"],
        "SIGNATURE": told["webhook-signature"],
    }
    for body, said in ((BODY, "the service sent this"), (BODY + " ", "somebody else sent this")):
        (tmp_path / "body.json").write_text(body)
        shell = ["sh", "-c", programs("curl")[3]]
        done = subprocess.run(
            shell, cwd=tmp_path, env=environment() | known, capture_output=True, text=True,
            timeout=HANG_S, check=True,
        )  # fmt: skip
        assert done.stdout.strip() == said, done.stderr
