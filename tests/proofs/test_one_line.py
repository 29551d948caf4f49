"""The clock of the one line: what is served is what the line was made for; what came is told."""

import hashlib
import json
import re
import shutil
import subprocess
import urllib.request

import pytest
from proofs import evidence, one_line

from mirrors import a_release, needs_gpg, throw_away_key


@needs_gpg
def test_the_line_names_the_script_that_is_served(tmp_path, monkeypatch):
    dist = a_release(tmp_path / "dist", "1.1.0", throw_away_key(tmp_path / "keys", monkeypatch))
    with one_line.served(dist, "127.0.0.1") as here:
        address = here.line.rpartition(" ")[2]
        with urllib.request.urlopen(f"{address}/install.sh") as answer:
            script = answer.read()
    assert f'echo "{hashlib.sha256(script).hexdigest()}  install.sh" | sha256sum -c' in here.line
    assert here.line.endswith(f"sh install.sh --from {address}")


@needs_gpg
@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="dpkg-deb is Debian's")
def test_packages_of_a_folder_become_a_release(tmp_path, monkeypatch):
    key = throw_away_key(tmp_path / "keys", monkeypatch)
    with pytest.raises(one_line.CannotRun, match="sudo make packages"):
        one_line.release(tmp_path, key, tmp_path)
    root, place = tmp_path / "root", tmp_path / "place"
    (root / "DEBIAN").mkdir(parents=True)
    place.mkdir()
    told = "Package: risala\nVersion: 1.1.0~dev0-1+deb12\nArchitecture: amd64\n"
    (root / "DEBIAN/control").write_text(f"{told}Maintainer: A <a@b.example>\nDescription: it\n")
    deb = tmp_path / "risala_1.1.0~dev0-1+deb12_amd64.deb"
    subprocess.run(("dpkg-deb", "-b", str(root), str(deb)), check=True, capture_output=True)
    version, _ = one_line.release(tmp_path, key, place)
    assert version == "1.1.0.dev0"
    assert (place / "SHA256SUMS").read_text().startswith("# Risala 1.1.0.dev0\n")
    assert (place / "apt/dists/bookworm/InRelease").exists()


def test_what_came_of_each_system_at_this_commit_is_a_column(tmp_path, monkeypatch):
    page = tmp_path / "evidence.md"
    page.write_text("<!-- one-line: begin -->\n<!-- one-line: end -->\n")
    monkeypatch.setattr(evidence, "write", lambda *words, **_: page.write_text(repr(words)))
    first = (one_line.STEPS[0].__doc__ or "").rstrip(".")
    for name in ("noble", "bookworm", "trixie"):
        commit = evidence.commit() if name != "trixie" else "commit 0123abcd"
        told = {"commit": commit, "came": {first: f"{name} (1 s)"}}
        (tmp_path / f"{name}-{one_line.KEPT}").write_text(json.dumps(told))
    one_line.write(tmp_path)
    text = page.read_text()
    assert re.search(r"'What is done', 'bookworm', 'noble'", text)
    assert f"('{first}', 'bookworm (1 s)', 'noble (1 s)')" in text
    assert "'not tried', 'not tried'" in text
    assert "trixie" not in text  # of another commit: the table names one
