"""The bill of materials names all that is locked and vendored; the audit knows a range."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from proofs.supply import audit
from proofs.supply.parts import DRIVER_LOCK, LOCK, VENDORED, parts
from proofs.supply.sbom import bill

PINNED = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)


def test_the_bill_names_every_locked_package_with_version_licence_and_hashes():
    text = LOCK.read_text("utf-8") + DRIVER_LOCK.read_text("utf-8")
    made = {each["name"]: each for each in bill()["components"]}
    pinned = PINNED.findall(text)
    assert len(pinned) > 50
    for name, version in pinned:
        found = made[name]
        assert found["version"] == version
        assert found["purl"] == f"pkg:pypi/{name}@{version}"
        assert found["licenses"][0]
    hashes = [each["content"] for part in made.values() for each in part["hashes"]]
    assert set(re.findall(r"sha256:([0-9a-f]{64})", text)) <= set(hashes)
    assert all(part["hashes"] for part in made.values())


def test_the_bill_names_every_vendored_file_as_it_lies_there():
    vendored = {each.name: each for each in parts() if each.registry == "npm"}
    folders = [each for each in VENDORED.iterdir() if each.is_dir()]
    assert len(vendored) == len(folders) > 4
    told = {value for each in vendored.values() for value in each.hashes}
    files = [each for folder in folders for each in folder.iterdir() if each.name != "VENDOR.md"]
    assert {hashlib.sha256(each.read_bytes()).hexdigest() for each in files} == told
    assert vendored["htmx.org"].licence == "0BSD"


def test_the_bill_is_the_same_each_time_and_says_who_needs_whom():
    first = bill()
    assert json.dumps(first) == json.dumps(bill())
    needs = {each["ref"]: each["dependsOn"] for each in first["dependencies"]}
    refs = {each["bom-ref"] for each in first["components"]}
    assert set(needs) == refs | {first["metadata"]["component"]["bom-ref"]}
    assert {each for those in needs.values() for each in those} == refs
    (trio,) = (ref for ref in refs if ref.startswith("pkg:pypi/trio@"))
    assert any(each.startswith("pkg:pypi/outcome@") for each in needs[trio])


def advisory(**affected: object) -> audit.Advisory:
    package = {"name": "Some_Thing", "ecosystem": "PyPI"}
    told = {"affected": [{"package": package, **affected}]}
    return audit.Advisory("X-1", "2026-01-01", told)


@pytest.mark.parametrize(
    ("affected", "version", "hit"),
    [
        ({"versions": ["1.0"]}, "1.0", True),
        ({"versions": ["1.0"]}, "1.1", False),
        ([{"introduced": "0"}, {"fixed": "1.2"}], "1.1", True),
        ([{"introduced": "0"}, {"fixed": "1.2"}], "1.2", False),
        ([{"introduced": "0"}, {"fixed": "1.2"}, {"introduced": "2"}], "1.3", False),
        ([{"introduced": "0"}, {"fixed": "1.2"}, {"introduced": "2"}], "2.1", True),
        ([{"introduced": "1.5"}, {"last_affected": "1.9"}], "1.9", True),
        ([{"introduced": "1.5"}, {"last_affected": "1.9"}], "1.10", False),
        ([{"introduced": "1.5"}], "1.4", False),
        ([{"introduced": "not a version"}], "1.4", True),
    ],
)
def test_an_advisory_hits_the_versions_that_it_is_about(affected, version, hit):
    if isinstance(affected, list):
        affected = {"ranges": [{"type": "ECOSYSTEM", "events": affected}]}
    found = advisory(**affected)
    assert found.hits(audit.Part("some-thing", version, "pypi")) is hit
    assert not found.hits(audit.Part("some-thing", version, "npm"))
    assert not found.hits(audit.Part("other", version, "pypi"))


def test_a_folder_of_advisories_is_read(tmp_path: Path):
    told = {"id": "X-2", "modified": "2026-02-03T00:00:00Z", "affected": []}
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper/x.json").write_text(json.dumps(told), "utf-8")
    (tmp_path / "readme.md").write_text("no advisory", "utf-8")
    (tmp_path / "other.json").write_text("[]", "utf-8")
    assert [each.id for each in audit.advisories(tmp_path)] == ["X-2"]
