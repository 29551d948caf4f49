"""What browsers load: unchanged where it is others', named by its content, and all of it there."""

import hashlib
import re
from pathlib import Path

import pytest

from risala.http.common.assets import STATIC
from risala.http.web.assets import load_shelf

ROOT = Path(__file__).parents[3]
VENDORED = sorted([*(STATIC / "vendor").iterdir(), ROOT / "tests/browser/vendor/axe-core"])
_ROW = re.compile(r"^\| (\S+) \| ([0-9a-f]{64}) \|$", re.MULTILINE)


@pytest.mark.parametrize("folder", VENDORED, ids=lambda folder: folder.name)
def test_what_others_made_is_as_they_made_it(folder):
    """`make vendor` writes these folders."""
    told = (folder / "VENDOR.md").read_text("utf-8")
    listed = dict(_ROW.findall(told))
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name != "VENDOR.md"
    }
    assert found == listed
    assert "LICENSE" in found
    assert re.match(r"# \S+ \d+\.\d+\.\d+\n", told)


def test_style_sheets_name_files_that_there_are():
    shelf = load_shelf()
    for path, asset in shelf.assets.items():
        if path.endswith(".css"):
            named = re.findall(rb"url\(([^)]+)\)", asset.content)
            assert all(each.decode() in shelf.assets for each in named), path
    assert b"url(/static/chevron." in shelf.assets[shelf.addresses["risala.css"]].content


def test_what_extends_htmx_comes_in_the_same_file():
    """In one of its own it may come after htmx has looked at the page: there would be no stream."""
    shelf = load_shelf()
    live = shelf.assets[shelf.addresses["live.min.js"]].content
    assert live.startswith(shelf.assets[shelf.addresses["htmx.min.js"]].content)
    assert b'htmx.registerExtension("sse"' in live
    assert not any("sse" in name for name in shelf.addresses)


def test_a_name_changes_with_its_content():
    for path, asset in load_shelf().assets.items():
        assert asset.digest in path
        assert hashlib.sha256(asset.content).hexdigest().startswith(asset.digest)


def test_icons_that_templates_and_modules_name_are_in_the_sprite():
    sprite = (STATIC / "web/icons.svg").read_text("utf-8")
    there = set(re.findall(r'<symbol id="([\w-]+)"', sprite))
    asked = set()
    for path in (ROOT / "src/risala/http").rglob("*.html"):
        asked |= set(re.findall(r"""icon\(["']([\w-]+)["'][,)]""", path.read_text("utf-8")))
    states = (ROOT / "src/risala/http/web/languages.py").read_text("utf-8")
    asked |= set(re.findall(r'"(s-[a-z]+)"', states))
    for path in (ROOT / "src/risala/http").rglob("*.py"):
        asked |= set(re.findall(r'NavItem\(\s*"[\w-]+",\s*"([\w-]+)"', path.read_text("utf-8")))
    assert {"overview", "mailings"} < asked
    assert asked - there == set()
