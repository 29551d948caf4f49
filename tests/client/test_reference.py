"""The page of the Python client is the one that is made from its code."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/python-client.md"


def test_the_page_is_the_one_that_is_made():
    place = ROOT / "clients/python/make_reference.py"
    spec = spec_from_file_location("make_reference", place)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert PAGE.read_text("utf-8") == module.text(), "`make client` writes it"


def test_the_readmes_beside_the_clients_lead_somewhere():
    for page in ROOT.glob("clients/*/README.md"):
        links = re.findall(r"\]\(([^)#\s]+)\)", page.read_text("utf-8"))
        assert [link for link in links if not (page.parent / link).exists()] == []
