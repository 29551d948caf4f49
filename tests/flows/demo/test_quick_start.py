"""The programs of the quick start, as they are copied from its page.

Each is parsed: curl's lines by sh, Python by itself, the others by tree-sitter's grammars. Those
whose language is on this machine are run against the demo too; `make peers` gets them, and says
which it could not get.
"""

from __future__ import annotations

import ast
import html
import json
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Sequence

import pytest
import tree_sitter_dart_orchard
import tree_sitter_javascript
import tree_sitter_php
from tree_sitter import Language, Parser

from patience import HANG_S
from processes import environment
from risala.http.dashboard.snippets import number_of, send_snippets, verifying
from risala.sms.numbering.plan import DEFAULT

TEST_NUMBER = number_of(DEFAULT, is_test=True)
GRAMMARS = {
    "JavaScript": tree_sitter_javascript.language,
    "PHP": tree_sitter_php.language_php,
    "Dart": tree_sitter_dart_orchard.language,
}
RUN = {
    "curl": ["sh", "-c"],
    "Python": [sys.executable, "-c"],
    "JavaScript": ["node", "--input-type=module", "-e"],
    "PHP": ["php", "-d", "display_errors=stderr", "-r"],
}
"""How a language runs a program; Debian has no Dart."""
TRIED = [
    name for name, command in RUN.items() if shutil.which("curl" if name == "curl" else command[0])
]
LANGUAGES = ["curl", "Python", "JavaScript", "PHP", "Dart"]
URL = "http://127.0.0.1:8080"
ANY_TEXT = 'C\'est "50 $x" \\ {y} \\u0041 é 😀\nligne\x08'
"""What a language would take for its own, where it is not quoted as that language wants."""


def copied(programs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """What a reader copies: the text without the marks for the eye."""
    return {name: html.unescape(re.sub("</?i>", "", text)) for name, text in programs}


def parses(language: str, program: str) -> bool:
    if language == "curl":
        return subprocess.run(["sh", "-n", "-c", program], check=False).returncode == 0
    if language == "Python":
        return isinstance(ast.parse(program), ast.Module)
    tree = Parser(Language(GRAMMARS[language]())).parse(program.encode())
    return not tree.root_node.has_error


@pytest.mark.parametrize(
    ("programs", "language"),
    [
        (programs, language)
        for programs in (send_snippets, verifying)
        for language in LANGUAGES
        if language in copied(programs(URL, ""))
    ],
)
def test_it_is_of_its_language_and_has_the_readers_address(language, programs):
    program = copied(programs(URL, TEST_NUMBER))[language]
    assert parses(language, program)
    assert URL in program
    assert "RISALA_KEY" in program
    assert not re.search("[sp]k_(live|test)_", program)


@pytest.mark.parametrize("language", list(GRAMMARS))
def test_the_grammars_see_what_is_wrong(language):
    program = copied(verifying(URL, TEST_NUMBER))[language]
    assert not parses(language, program.removesuffix(";")[:-1])


@pytest.fixture(scope="module")
def demo(shared_premises):
    service = shared_premises.service("--demo")
    service.start()
    # The last line of the greeting: demo.json is there.
    service.process.wait_line(lambda line: line.startswith("Stop with"))
    return json.loads((service.data / "demo.json").read_text())


def run(language: str, program: str, key: str, typed: str = "") -> str:
    """What a program prints."""
    # PHP's option takes what stands between its tags.
    source = program.removeprefix("<?php\n") if language == "PHP" else program
    done = subprocess.run(
        [*RUN[language], source],
        input=typed,
        env=environment() | {"RISALA_KEY": key},
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("language", TRIED)
def test_it_sends(demo, language):
    program = copied(send_snippets(demo["base_url"], TEST_NUMBER))[language]
    said = run(language, program, demo["test_secret_key"])
    assert re.search(r"sms_[0-9A-Z]{32}", said)
    assert demo["organization_id"] in said


@pytest.mark.slow
@pytest.mark.parametrize("language", TRIED)
def test_any_text_is_sent_as_it_was_typed_with_the_key_of_the_page(demo, language):
    """As the page after sign-up shows it: with a test key in the program."""
    key = demo["test_secret_key"]
    program = copied(send_snippets(demo["base_url"], TEST_NUMBER, body=ANY_TEXT, test_key=key))
    said = run(language, program[language], "")
    asked = urllib.request.Request(
        f"{demo['base_url']}/api/sms/get",
        json.dumps({"messageId": re.search(r"sms_[0-9A-Z]{32}", said)[0]}).encode(),
        {"x-api-key": key, "content-type": "application/json"},
    )
    with urllib.request.urlopen(asked, timeout=HANG_S) as answer:
        assert json.load(answer)["body"] == ANY_TEXT


@pytest.mark.slow
@pytest.mark.parametrize("language", TRIED)
@pytest.mark.parametrize(("code", "status"), [("000000", "approved"), ("000001", "denied")])
def test_it_verifies(demo, language, code, status):
    program = copied(verifying(demo["base_url"], TEST_NUMBER))[language]
    said = run(language, program, demo["test_secret_key"], typed=f"{code}\n")
    assert status in said


@pytest.mark.slow
@pytest.mark.parametrize("language", [each for each in TRIED if each != "curl"])
def test_a_refusal_is_not_taken_for_an_answer(demo, language):
    """curl prints whatever came; the others stop."""
    program = copied(send_snippets(demo["base_url"], TEST_NUMBER))[language]
    with pytest.raises(AssertionError):
        run(language, program, "sk_test_" + "x" * 32)
