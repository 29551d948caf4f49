"""The example of CONTRIBUTING, a feature of eight files, laid over a copy of the source: commands,
pages, the audit trail, an export and a deletion have it, and nothing else had to be told of it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from zipfile import ZipFile

import httpx2
import pytest
from tests.flows.conftest import Premises, Service
from tests.flows.test_without_a_feature import OWNER, account_of, served, sign_in

from patience import HANG_S, until
from processes import run

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/feature"
README = (EXAMPLE / "README.md").read_text(encoding="utf-8")
CHANGES = re.findall(r"in `([\w/]+\.py)`:\n\n```diff\n(.*?)```", README, re.DOTALL)
FILES_MAX = 8
"""What a small feature may need, as was decided."""
IS_TOLD = ("pyproject.toml", "tests/engine/features/test_features.py")
"""What a copy needs so that the source can be checked there."""
TEXT = "Invoices: second floor."


def added() -> set[str]:
    """The new files that have anything in them."""
    source = EXAMPLE / "src/risala"
    new = (path for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(source)) for path in new if path.stat().st_size}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source, with the example laid over it and its two changes made."""
    tree = tmp_path_factory.mktemp("example")
    no_caches = shutil.ignore_patterns("__pycache__")
    for source in (ROOT / "src", EXAMPLE / "src"):
        shutil.copytree(source, tree / "src", ignore=no_caches, dirs_exist_ok=True)
    for name, block in CHANGES:
        changed = tree / "src/risala" / name
        lines = block.splitlines()
        before, after = (
            "".join(f"{line[1:]}\n" for line in lines if line[0] in marks) for marks in (" -", " +")
        )
        text = changed.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{name} has changed: so has the block of the example"
        changed.write_text(text.replace(before, after), encoding="utf-8")
    for name in IS_TOLD:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    return tree


def checked(tree: Path, *command: str, **environment: str) -> None:
    done = run((sys.executable, "-m", *command), tree, **environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_few_files():
    changed = {name for name, _ in CHANGES}
    assert len(changed) == len(CHANGES) == 2
    assert not added() & changed
    assert len(added() | changed) <= FILES_MAX
    assert all(f"`{name}`" in README for name in added())


@pytest.mark.slow
@pytest.mark.long
def test_its_table_has_an_owner_and_its_types_are_strict(tree: Path):
    test = "tests/engine/features/test_features.py"
    options = ("-q", "-p", "no:cacheprovider", "--noconftest", "-c", "/dev/null", "--rootdir", ".")
    checked(tree, "pytest", *options, test, PYTHONPATH="src")
    if (ROOT / ".mypy_cache").exists():  # what it knows of the rest of the source
        shutil.copytree(ROOT / ".mypy_cache", tree / ".mypy_cache")
    checked(tree, "mypy")


@pytest.mark.slow
@pytest.mark.long
def test_it_is_served_shown_typed_and_handed_out(tree: Path, premises: Premises):
    service = served(premises, "data", tree / "src")
    organization = account_of(service).organization_id

    written = service.command("org", "note", organization, "--text", TEXT, more=service.environment)
    assert written.returncode == 0, written.stderr
    assert TEXT in written.stdout
    assert service.perform("organization.note", organization_id=organization)["text"] == TEXT
    (line,) = service.rows("SELECT after FROM audit_log WHERE action = 'organization.note'")
    assert TEXT in line[0]

    cookies = sign_in(service, OWNER, operator=False)
    page = f"/app/{organization}/note"
    with httpx2.Client(
        base_url=service.url, cookies=cookies, trust_env=False, timeout=HANG_S
    ) as browser:
        assert f'href="{page}"' in browser.get(f"/app/{organization}/overview").text
        shown = browser.get(page)
        assert TEXT in shown.text
        mark = re.search(r'name="form_token" value="([^"]+)"', shown.text)
        assert mark is not None
        refused = browser.post(page, data={"form_token": mark[1], "text": "x" * 501})
        assert refused.status_code == 422
        assert "x" * 501 in refused.text
        saved = browser.post(page, data={"form_token": mark[1], "text": "Moved."})
        assert (saved.status_code, saved.headers["location"]) == (303, page)
        assert "Moved." in browser.get(page).text

    export = service.perform("export.ask", organization_id=organization)
    until(lambda: is_ready(service, export["id"]), "the export is written")
    with ZipFile(service.perform("export.fetch", export_id=export["id"])["path"]) as file:
        assert json.loads(file.read("settings.json"))["note"]["text"] == "Moved."

    shown = service.command("org", "delete", organization, more=service.environment)
    assert shown.returncode == 0, shown.stderr
    name = service.perform("org.show", organization_id=organization)["name"]
    service.perform("org.delete", organization_id=organization, name=name)
    until(lambda: not service.rows("SELECT 1 FROM organization_notes"), "the note is deleted")
    service.assert_no_bug_logged()
    assert service.stop() == 0


def is_ready(service: Service, export_id: str) -> bool:
    return service.perform("export.show", export_id=export_id)["state"] == "ready"
