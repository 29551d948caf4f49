"""Every fenced block of the documentation is run, checked by its language, or says why it is not.

Run: what is typed (``console``, ``sh``) and what is said then (``text``), by the rehearsals beside
this file, which fail where a block of their page was left out. Checked: all else, here.
"""

from __future__ import annotations

import ast
import configparser
import html.parser
import json
import re
import sqlite3
import textwrap
import tomllib
from contextlib import closing
from pathlib import Path

import pytest
import tree_sitter_dart_orchard
import tree_sitter_javascript
import tree_sitter_php
import yaml
from sqlite_utils import Database
from tree_sitter import Language, Parser

from doc_blocks import PAGES, ROOT, Block, blocks_of, original
from risala.config.faults import ConfigError
from risala.config.load import load_settings
from risala.config.model import Settings
from risala.config.secrets import resolve_secrets
from risala.engine.journal.store.schema.migrations import migrate
from risala.lab.modem.script import scenario as modem
from risala.lab.scenario_file import ScenarioError, read_scenario
from risala.lab.smsc import scenario as smsc
from risala.plugins.manager import PluginManager

TYPED = ("console", "sh", "text")
HELD = {
    ("examples/feature/README.md", "diff"): "tests/flows/test_with_one_more_feature.py",
    ("docs/reference/verification-states.md", "mermaid"): "tests/docs/test_verification_states.py",
    ("docs/tutorials/write-a-driver.md", "python"): "tests/docs/test_driver_plugin.py",
    ("docs/tutorials/write-a-driver.md", "toml"): "tests/docs/test_driver_plugin.py",
    ("docs/how-to/reverse-proxy.md", "nginx"): "tests/docs/test_proxies.py",
    ("docs/how-to/reverse-proxy.md", "caddy"): "tests/docs/test_proxies.py",
    ("docs/how-to/an-old-phone-as-your-carrier.md", "caddy"): "tests/docs/test_proxies.py",
    ("docs/how-to/rotate-logs.md", "logrotate"): "tests/docs/test_proxies.py",
    ("docs/reference/database.md", "sql"): "tests/docs/test_database.py",
    ("docs/quick-start/java.md", "java"): "tests/docs/programs/test_quick_starts.py",
    ("docs/quick-start/go.md", "go"): "tests/docs/programs/test_quick_starts.py",
    ("docs/how-to/come-from-twilio.md", "java"): "tests/docs/programs/test_come_from_twilio.py",
    ("docs/how-to/connect/traccar.md", "xml"): "tests/flows/connect/test_pages.py",
}
"""Blocks that a test of their own holds to more than their language asks for."""

ALL = [block for page in PAGES if page == original(page) for block in blocks_of(page)]
"""Those of translations are the same ones: tests/docs/pages/test_translations.py."""


# -- settings and scenarios --------------------------------------------------------------------


class AnySecret(dict[str, str]):
    """An environment in which every variable is set, to something of its kind."""

    def get(self, key, default=None):
        return "1234" if key.endswith("_PIN") else "whsec_" + "QUJD" * 8


def resolve(table, *, where):
    return resolve_secrets(table, AnySecret(), where=where)


def told(error: ConfigError) -> list[str]:
    """The faults but for what a page leaves out, which is not wrong there."""
    return [
        str(fault)
        for fault in error.faults
        if not re.search(r"is missing; add it|field required", fault.text)
    ]


def settings_faults(text: str, place: Path) -> list[str]:
    """What the service would say of these settings, by its own model and those of its plugins."""
    table = tomllib.loads(text)
    if isinstance(table.get("carriers"), dict):  # the page goes on with a carrier that it has shown
        (driver,) = table["carriers"]
        text = f'[[carriers]]\nname = "it"\ndriver = "{driver}"\n{text}'
    text = text.replace('"org_…"', f'"org_{"0" * 32}"')
    (place / "risala.toml").write_text(text)
    manager = PluginManager()
    manager.load(installed=[])
    try:
        settings = load_settings(place / "risala.toml", environ={})
    except ConfigError as error:
        return told(error)
    faults = []
    for carrier in settings.carriers:
        try:
            manager.build_driver(carrier, resolve)
        except ConfigError as error:
            faults += told(error)
    for name, face in settings.compat.enabled.items():
        try:
            manager.build_face(name, face, resolve)
        except ConfigError as error:
            faults += told(error)
    for name, method in settings.payments.methods.items():
        try:
            manager.build_payment_method(name, method, resolve)
        except ConfigError as error:
            faults += told(error)
    return faults


def check_toml(block: Block, place: Path) -> None:
    table = tomllib.loads(block.text)
    if "project" in table:
        assert "risala" in table["project"]["entry-points"]
    elif set(table) <= set(Settings.model_fields):
        assert settings_faults(block.text, place) == []
    else:
        (place / "scenario.toml").write_text(block.text)
        faults = []
        for kind in (smsc.Scenario, modem.Scenario):
            try:
                read_scenario(place / "scenario.toml", kind)
            except ScenarioError as error:
                faults.append(str(error))
        assert len(faults) < 2, "neither settings nor a scenario: " + "\n".join(faults)


# -- languages ---------------------------------------------------------------------------------


def check_json(block: Block, place: Path) -> None:
    try:
        json.loads(block.text)
    except json.JSONDecodeError:
        for line in block.text.splitlines():
            json.loads(line)


def check_python(block: Block, place: Path) -> None:
    """It can be compiled, and what it imports of ours is there."""
    text = textwrap.dedent(block.text)
    if re.match(r"(?:async )?def [^\n]+(?<!\.\.\.)$", text.strip()):
        text = f"{text.strip()}: ..."  # a signature alone
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "risala":
            exec(compile(ast.Module([node], []), block.where, "exec"), {})


GRAMMARS = {
    "js": tree_sitter_javascript.language,
    "php": tree_sitter_php.language_php,
    "dart": tree_sitter_dart_orchard.language,
}


def check_grammar(block: Block, place: Path) -> None:
    tree = Parser(Language(GRAMMARS[block.language]())).parse(block.text.encode())
    assert not tree.root_node.has_error


class Tags(html.parser.HTMLParser):
    """Which elements are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("br", "hr", "img", "input", "link", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check_html(block: Block, place: Path) -> None:
    tags = Tags()
    tags.feed(block.text)
    tags.close()
    assert tags.open == []


def check_sql(block: Block, place: Path) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        migrate(Database(conn, execute_plugins=False))
        for statement in block.text.split(";\n"):
            conn.execute(f"EXPLAIN {statement}")


def check_ini(block: Block, place: Path) -> None:
    """A unit of systemd's, or a part of one."""
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read_string(block.text)
    assert set(unit.sections()) <= {"Unit", "Service", "Install", "Timer", "Socket", "Journal"}


def check_yaml(block: Block, place: Path) -> None:
    assert isinstance(yaml.safe_load(block.text), dict)


CHECKS = {
    "toml": check_toml,
    "json": check_json,
    "python": check_python,
    "html": check_html,
    "sql": check_sql,
    "ini": check_ini,
    "yaml": check_yaml,
    **dict.fromkeys(GRAMMARS, check_grammar),
}


# -- every block -------------------------------------------------------------------------------


CHECKED = [block for block in ALL if block.reason is None and block.language in CHECKS]


@pytest.mark.parametrize("block", CHECKED, ids=lambda block: f"{block.where} {block.language}")
def test_a_block_is_right_by_its_language(block, tmp_path):
    if (str(block.page.relative_to(ROOT)), block.language) not in HELD:
        CHECKS[block.language](block, tmp_path)


def rehearsed() -> set[str]:
    """The pages that some rehearsal plays."""
    here = [
        *ROOT.glob("tests/docs/**/test_*.py"),
        ROOT / "tests/browser/test_tutorials.py",
        ROOT / "tests/flows/connect/test_pages.py",
    ]
    sources = [path.read_text("utf-8") for path in here]
    return {page for text in sources for page in re.findall(r'"([\w/.-]+\.md)"', text)}


def test_every_block_is_run_or_checked_or_says_why_it_is_not():
    played = rehearsed()
    alone = []
    for block in ALL:
        page = str(block.page.relative_to(ROOT))
        checked = block.language in CHECKS or (page, block.language) in HELD
        run = block.language in TYPED and page in played
        if block.reason is None and not checked and not run:
            alone.append(f"{block.where} ({block.language})")
    assert alone == [], (
        "nothing runs these blocks. Play their page in tests/docs/test_typed.py, or write why they "
        "cannot be run in the line before each: `<!-- not run: needs a modem -->`. A block of "
        f"another language than these needs a check here: {', '.join([*TYPED, *CHECKS])}"
    )


def test_every_fence_is_a_block_that_was_found():
    for page in PAGES:
        fences = re.findall(r"^ *(?:```|~~~).*$", page.read_text("utf-8"), re.M)
        assert len(fences) == 2 * len(blocks_of(page)), page


def test_a_reason_is_a_reason():
    for block in ALL:
        assert block.reason is None or len(block.reason) > 8, block.where
    for page in PAGES:
        marks = len(re.findall(r"^ {0,3}<!-- not run", page.read_text("utf-8"), re.M))
        assert marks == sum(block.reason is not None for block in blocks_of(page)), (
            f"{page}: a mark stands right before its block: `<!-- not run: why -->`"
        )


def test_no_test_changes_the_machine_that_it_runs_on():
    changing = re.compile(r"\b(?:sudo|systemctl|apt|apt-get|useradd|usermod)\b")
    found = [block.where for block in ALL if block.language in ("console", "sh")
             and block.reason is None and changing.search(block.text)]  # fmt: skip
    assert found == [], "say before each: `<!-- not run: it changes the machine: needs root -->`"


def test_what_holds_a_block_speaks_of_its_page():
    for (page, language), test in HELD.items():
        assert Path(page).name in (ROOT / test).read_text("utf-8") or Path(page).stem in test
        assert any(b.language == language for b in blocks_of(ROOT / page)), (page, language)


# -- the checks themselves ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("toml", "[http]\nprot = 8080\n"),
        ("toml", '[[carriers]]\nname = "a"\ndriver = "smpp"\n[carriers.smpp]\nhots = "x"\n'),
        ("toml", "[carriers.smpp]\nwindow = 0\n"),
        ("toml", '[answers]\ndistribution = "odd"\n'),
        ("json", '{"to": }'),
        ("python", "def f(:\n"),
        ("python", "from risala.plugins.contract import Nothing\n"),
        ("js", "const = 3;"),
        ("html", "<div><b></div>"),
        ("sql", "SELECT nothing FROM messages;\n"),
        ("ini", "[Servcie]\nUser=risala\n"),
        ("yaml", "a: [b\n"),
    ],
)
def test_what_is_wrong_in_a_block_is_noticed(language, text, tmp_path):
    block = Block(ROOT / "README.md", 1, language, text)
    with pytest.raises(Exception):  # noqa: B017, PT011 -- each check has faults of its own kind
        CHECKS[language](block, tmp_path)
