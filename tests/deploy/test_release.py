"""`make release` in a small work tree: git and towncrier are true, what builds is quick.

What takes long (`make generated`, packages, the table of promises) is stood in for by programs that
write small files and say that they were called.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from deploy.container import oci
from deploy.release import changelog, develop, installer, version
from deploy.release.__main__ import Release, main
from deploy.release.artefacts import Artefact
from deploy.release.prepare import tag_of
from deploy.release.workshop import Workshop
from rich.console import Console

from mirrors import needs_gpg, throw_away_key

ROOT = Path(__file__).parents[2]
MAKE = """\
#!/bin/sh
echo "$@$ARGS" >> build/made
test ! -e "build/broken-$1" || { echo "the disk is full"; exit 1; }
v=$(sed -n 's/__version__ = "\\(.*\\)"/\\1/p' src/risala/__init__.py)
mkdir -p dist
case $1 in
  generated) echo "$v" > docs/generated.md ;;
  dist) echo wheel > dist/risala-$v-py3-none-any.whl; echo sdist > dist/risala-$v.tar.gz ;;
  sbom) echo "$v" > dist/risala.cdx.json ;;
  bundle) echo "$v" > dist/risala.pyz ;;
esac
"""
QUICK = ("--without", "deb", "--without", "packages", "--without", "container")
BUILT = ["dist", "sbom", "bundle"]


class QuickWorkshop(Workshop):
    """One whose Python stores promises in no time; towncrier is the true one."""

    def run(self, *command: str) -> str:
        if "proofs.promises" in command:
            Path(command[-1]).write_text("{}\n")
        if "proofs.promises" in command or "pytest" in command:
            return ""
        return super().run(*command)

    def made(self) -> list[str]:
        """What was built so far."""
        told = self.top / "build/made"
        return told.read_text().splitlines() if told.exists() else []


@pytest.fixture
def shop(tmp_path) -> QuickWorkshop:
    """A work tree of 0.1.0 with two fragments and notes for 1.0.0, all of it committed."""
    top = tmp_path / "source"
    copied = (*(place.path for place in version.PLACES), *installer.READMES)
    for name in (*copied, "pyproject.toml", ".gitignore"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, top / name)
    version.set_version(top, "0.1.0")
    (top / "CHANGELOG.md").write_text(f"# Changelog\n\n{changelog.START}")
    (top / "changes").mkdir()
    (top / "changes/.gitignore").write_text("!.gitignore\n")
    (top / "changes/1.0.0.md").write_text("The first one.\n\n### For people\n\n- Letters\n")
    (top / "changes/+letters.feature.md").write_text("It writes letters.\n")
    (top / "changes/+slow.fix.md").write_text("It is quick.\n")
    make = tmp_path / "make"
    make.write_text(MAKE)
    make.chmod(0o755)
    shop = QuickWorkshop(top, (str(make),))
    (top / "build").mkdir()
    for words in (
        ("init", "--quiet", "--initial-branch", "main"),
        ("config", "user.name", "Aminata"),
        ("config", "user.email", "aminata@example.org"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", "All of it"),
    ):
        shop.git(*words)
    return shop


def release(shop: Workshop, *words: str) -> None:
    main([*words, *QUICK], shop)


def files(shop: Workshop) -> set[str]:
    found = set(shop.git("ls-files", "changes", "tests", "docs/generated.md").split())
    return found - {"changes/.gitignore"}


def test_notes_that_somebody_wrote_become_the_changelog(shop, capsys, monkeypatch):
    monkeypatch.setenv("ARGS", "--for-the-release-alone")  # as make does
    release(shop, "1.0.0")
    assert version.current(shop.top) == "1.0.0"
    assert files(shop) == {"docs/generated.md", "tests/promises/1.0.json"}
    told = changelog.notes_of(shop.top, "1.0.0")
    assert re.match(r"## 1\.0\.0 \(\d{4}-\d\d-\d\d\)\n\nThe first one\.\n\n### For people\n", told)
    assert shop.git("log", "-2", "--format=%s").splitlines() == ["Risala 1.0.0", "All of it"]
    assert shop.git("cat-file", "-t", "v1.0.0") == "tag"
    assert shop.git("tag", "--list", "v1.0.0", "--format=%(contents)").strip() == told.strip()
    assert shop.git("status", "--porcelain") == ""
    assert shop.made() == ["generated", *BUILT]
    assert (shop.dist / "NOTES.md").read_text() == told
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=shop.dist, check=True)
    said = capsys.readouterr().out
    assert "git push origin main v1.0.0" in said
    assert "left out  container (as asked)" in said


@pytest.mark.slow
def test_else_the_fragments_do(shop):
    release(shop, "0.2.0")
    told = changelog.notes_of(shop.top, "0.2.0")
    assert told.index("### New\n") < told.index("It writes letters.") < told.index("It is quick.")
    # Before 1.0 nothing is promised.
    assert files(shop) == {"docs/generated.md", "changes/1.0.0.md"}
    with pytest.raises(SystemExit, match=r"there is nothing to say of 0\.2\.1\."):
        release(shop, "0.2.1")
    (shop.top / "changes/+more.feature.md").write_text("It does more.\n")
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "--message", "More")
    release(shop, "0.2.1")
    assert "letters" not in changelog.notes_of(shop.top, "0.2.1")
    assert changelog.notes_of(shop.top, "0.2.0") == told


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("1.0", "'1.0' is no version"),
        ("v1.0.0", "three numbers"),
        ("1.0.0rc1", "three numbers"),
        ("0.0.9", "0.0.9 is older than 0.1.0, which the source has"),
        ("0.3.0", "v0.3.0 is released: it is another commit. Take the next version"),
        ("0.2.9", "0.2.9 is older than 0.3.0, which is released"),
    ],
)
def test_a_wrong_version_is_refused(shop, wanted, reason):
    shop.git("tag", "v0.3.0")
    shop.git("commit", "--quiet", "--allow-empty", "--message", "More")
    with pytest.raises(SystemExit, match=re.escape(reason)):
        release(shop, wanted)
    assert shop.git("tag", "--list") == "v0.3.0"
    assert shop.made() == []


def test_what_is_not_committed_is_not_released(shop):
    (shop.top / "changes/+new.feature.md").write_text("It is new.\n")
    with pytest.raises(SystemExit, match=r"not committed:\n\?\? changes/\+new\.feature\.md"):
        release(shop, "1.0.0")


def test_a_failure_before_the_commit_leaves_the_source_as_it_was(shop):
    (shop.top / "build/broken-generated").touch()
    with pytest.raises(SystemExit, match="generated failed:\nthe disk is full\n"):
        release(shop, "1.0.0")
    assert shop.git("status", "--porcelain") == ""
    assert version.current(shop.top) == "0.1.0"
    assert len(changelog.fragments(shop.top)) == 2
    (shop.top / "build/broken-generated").unlink()
    release(shop, "1.0.0")
    assert shop.git("describe", "--exact-match") == "v1.0.0"


def test_after_a_failed_build_the_same_command_goes_on(shop, capsys):
    (shop.top / "build/broken-bundle").touch()
    with pytest.raises(SystemExit, match=r"bundle failed:\nthe disk is full\nAll of it: "):
        release(shop, "1.0.0")
    commit = shop.git("rev-parse", "HEAD")
    assert shop.git("tag", "--list") == ""  # a tag names what could be built
    (shop.top / "build/broken-bundle").unlink()
    (shop.dist / "risala.cdx.json").write_text("somebody else's\n")
    release(shop, "1.0.0")
    assert shop.made() == ["generated", *BUILT, "sbom", "bundle"]
    assert shop.git("rev-parse", "v1.0.0^{commit}", "HEAD").split() == [commit, commit]
    capsys.readouterr()
    release(shop, "1.0.0")  # once more changes nothing
    assert len(shop.made()) == 6
    assert "make bundle: an earlier run built it" in capsys.readouterr().out


def test_what_cannot_be_built_here_is_said(tmp_path):
    deb = Artefact("deb", ("risala_{version}-*.deb",), ("no-such-program", "nor-this-one"))
    assert deb.missing() == "no-such-program or nor-this-one"
    assert Artefact("sh", (), ("sh",)).missing() == ""
    with pytest.raises(SystemExit, match=r"make deb left no risala_1\.2\.3-\*\.deb\."):
        deb.files(tmp_path, "1.2.3")


def test_every_place_of_the_source_names_the_same_version():
    now = version.current(ROOT)
    for place in version.PLACES:
        text = (ROOT / place.path).read_text("utf-8")
        again, count = place.named(text, now)
        assert count, place.path
        assert again == text, place.path


def test_a_commit_after_a_release_does_not_call_itself_by_its_version():
    tag = tag_of(version.current(ROOT))
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet"]
    released, head = (
        subprocess.run([*command, each], check=False, capture_output=True, text=True).stdout
        for each in (f"{tag}^{{commit}}", "HEAD")
    )
    assert released in ("", head), f"{tag} is out: make develop VERSION=…"


@pytest.mark.slow
def test_between_releases_the_source_is_on_its_way_to_the_next_one(shop, capsys):
    release(shop, "1.0.0")
    assert "make develop VERSION=1.1.0" in capsys.readouterr().out
    for wanted in ("0.9.0", "1.0.0"):
        with pytest.raises(SystemExit, match=rf"{wanted} does not come after 1\.0\.0, which"):
            develop.main([wanted], shop)
    develop.main(["1.1.0"], shop)
    assert version.current(shop.top) == "1.1.0.dev0"
    assert shop.git("log", "-1", "--format=%s") == "Here begins what becomes 1.1.0"
    assert shop.git("status", "--porcelain") == ""
    package = (shop.top / "clients/javascript/package.json").read_text()
    assert '"version": "1.1.0-dev.0"' in package  # as npm wants it
    page = (shop.top / "docs/quick-start/python.md").read_text()
    assert "risala_client-1.1.0.dev0-py3-none-any.whl" in page
    with pytest.raises(SystemExit, match=r"1\.1\.0 does not come after 1\.1\.0\.dev0"):
        develop.main(["1.1.0"], shop)
    (shop.top / "changes/+more.feature.md").write_text("It does more.\n")
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "--message", "More")
    with pytest.raises(SystemExit, match=r"1\.0\.1 is older than 1\.1\.0\.dev0, which"):
        release(shop, "1.0.1")
    release(shop, "1.1.0")
    assert version.current(shop.top) == "1.1.0"
    assert '"version": "1.1.0"' in (shop.top / "clients/javascript/package.json").read_text()


@needs_gpg
@pytest.mark.slow
def test_a_key_signs_the_release_and_the_first_page_says_how_to_install_it(
    shop, tmp_path, monkeypatch, capsys
):
    key = throw_away_key(tmp_path / "keys", monkeypatch)
    public = "https://downloads.example.org/risala"
    with pytest.raises(SystemExit, match=r"KEY=… names the release's key\."):
        release(shop, "1.0.0", "--public", public)
    release(shop, "1.0.0", "--key", key.fingerprint, "--public", public)
    check = ("gpgv", "--keyring", "./risala-archive-keyring.gpg", "SHA256SUMS.asc", "SHA256SUMS")
    subprocess.run(check, cwd=shop.dist, check=True, capture_output=True)
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=shop.dist, check=True)
    listed = (shop.dist / "SHA256SUMS").read_text()
    assert listed.startswith("# Risala 1.0.0\n# Date: ")
    assert {"install.sh", "compose.yaml"} <= {line.split()[1] for line in listed.splitlines()[3:]}
    assert (shop.dist / "risala.cdx.json.asc").exists()
    # The commit has the line, with the checksum of the script that was made after it.
    digest = hashlib.sha256((shop.dist / "install.sh").read_bytes()).hexdigest()
    for name in installer.READMES:
        told = shop.git("show", f"HEAD:{name}")
        assert f'curl -fsSO {public}/install.sh && echo "{digest}  install.sh"' in told
        assert installer.FROM_FILES not in told
    assert "install.sh" in capsys.readouterr().out


@pytest.mark.slow
def test_images_that_are_there_become_one(shop, capsys):
    """One is made here; that of another processor is brought from such a machine."""
    release(shop, "1.0.0")
    (shop.dist / "risala_1.0.0_arm64.container.tar.xz").write_bytes(b"")
    made = shop.dist / "risala_1.0.0.oci.tar"
    told = argparse.Namespace(
        without=[], key="", public="", registry="", container="", deb="", packages=""
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oci, "joined", lambda *_: made.write_text("both\n"))
        maker = Release(shop, "1.0.0", told, Console())
        assert maker._joined() == [made]
    assert maker._left_out == [
        "the image for amd64 (make container there, and bring its file into dist/)"
    ]


def test_without_a_key_there_is_no_script_to_install_by(shop, capsys):
    release(shop, "1.0.0")
    assert not (shop.dist / "install.sh").exists()
    assert "left out  install.sh, compose.yaml, apt (KEY=…" in capsys.readouterr().out
    assert installer.FROM_FILES in (shop.top / "README.md").read_text()
