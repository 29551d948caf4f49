"""Make a release: ``make release VERSION=1.0.0`` (docs/how-to/make-a-release.md says how).

It makes a commit with the version, the changelog and the promises, builds what people install, and
then tags the commit. Nothing is pushed. After a failure the same command goes on where it ended.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from deploy.container import oci
from deploy.release import changelog, sign
from deploy.release.artefacts import ALL, NOTES, SUMS, Artefact, Unbuilt, sums
from deploy.release.installer import published
from deploy.release.prepare import check, is_prepared, prepare, tag_of
from deploy.release.signing import release_key
from deploy.release.systems import ARCHITECTURES
from deploy.release.version import numbers
from deploy.release.workshop import Workshop
from rich.console import Console

TOP: Final = Path(__file__).parents[2]
PASSED_ON: Final = ("container", "deb", "packages")
"""Targets that options can be passed on to."""


class Release:
    """One version, from the check to the tag."""

    def __init__(
        self, shop: Workshop, version: str, given: argparse.Namespace, console: Console
    ) -> None:
        self._shop, self._version, self._console = shop, version, console
        self._without: list[str] = given.without
        self._arguments = {each: getattr(given, each) for each in PASSED_ON}
        self._published = published(version, given.public, given.registry)
        self._key = release_key(given.key) if given.key else None
        if self._published.public and not self._key:
            raise SystemExit("What is published is signed: KEY=… names the release's key.")
        self._left_out: list[str] = []

    def make(self) -> None:
        """All of it.

        Raises:
            SystemExit: something failed; the same again goes on from there.
        """
        shop, version = self._shop, self._version
        self._step("The source is as it should be", lambda: check(shop, version))
        if is_prepared(shop, version):
            self._say("The release's commit is there already")
        else:
            self._step("Version, changelog, pages, promises", self._prepare)
        files: list[Path] = []
        for artefact in ALL:
            files += [each for each in self._built(artefact) if each not in files]
        files += self._joined()
        self._step("Checksums, notes, signatures", lambda: self._told(files))
        self._step(f"The tag {tag_of(version)}", self._tagged)
        self._next(files)

    def _prepare(self) -> None:
        line = self._published.one_line(self._key) if self._key else ""
        prepare(self._shop, self._version, line)

    def _built(self, artefact: Artefact) -> list[Path]:
        target, version = artefact.target, self._version
        missing, is_unwanted = artefact.missing(), target in self._without
        if is_unwanted or missing:
            why = "as asked" if is_unwanted else f"needs {missing}"
            self._left_out.append(f"{target} ({why})")
            return []
        commit = self._shop.git("rev-parse", "HEAD")
        record = self._shop.log.with_name(f"{target}-{commit}")
        if self._is_built(artefact, record):
            self._say(f"make {target}: an earlier run built it")
        else:
            arguments = self._arguments.get(target, "")
            words = [f"ARGS={arguments}"] if arguments else []
            command = (*self._shop.make, target, *words)
            self._step(f"make {target}", lambda: self._shop.run(*command))
            record.write_text(sums(artefact.files(self._shop.dist, version)), "utf-8")
        return artefact.files(self._shop.dist, version)

    def _joined(self) -> list[Path]:
        """The image of all processors, of those that are in ``dist/``."""
        dist, version = self._shop.dist, self._version
        if "container" in self._without or not (images := oci.images(dist, version)):
            return []
        for architecture in ARCHITECTURES:
            if not any(f"_{architecture}." in each.name for each in images):
                why = "make container there, and bring its file into dist/"
                self._left_out.append(f"the image for {architecture} ({why})")
        self._step("One image for all processors", lambda: oci.joined(dist, version))
        return [dist / oci.name_of(version)]

    def _is_built(self, artefact: Artefact, record: Path) -> bool:
        """Whether a run before this one built it from this commit, and it is as it was left."""
        try:
            return record.read_text("utf-8") == sums(artefact.files(self._shop.dist, self._version))
        except (FileNotFoundError, Unbuilt):
            return False

    def _told(self, files: list[Path]) -> None:
        dist, moment = self._shop.dist, datetime.now(UTC)
        dist.mkdir(exist_ok=True)  # if nothing was to be built
        notes = changelog.notes_of(self._shop.top, self._version)
        (dist / NOTES).write_text(notes, "utf-8")
        if self._key:
            files += sign.begun(dist, self._published, self._key)
            files += sign.signed(dist, self._version, files, self._key, moment)
        else:
            sign.told(dist, self._version, files, moment)
            self._left_out.append("install.sh, compose.yaml, apt (KEY=… signs them)")

    def _tagged(self) -> None:
        tag = tag_of(self._version)
        if not self._shop.git("tag", "--list", tag):
            notes = str(self._shop.dist / NOTES)
            self._shop.git("tag", "--annotate", "--cleanup=whitespace", "--file", notes, tag)

    def _step(self, name: str, does: Callable[[], object]) -> None:
        began = time.monotonic()
        with self._console.status(f"{name} …"):
            does()
        self._say(name, time.monotonic() - began)

    def _say(self, name: str, took_s: float | None = None) -> None:
        took = "" if took_s is None else f"  [dim]{took_s:.0f} s[/]"
        self._console.print(f"[green]✓[/] {name}{took}")

    def _next(self, files: Sequence[Path]) -> None:
        out = self._console.print
        out()
        for path in files:
            out(f"{path.stat().st_size / 1_000_000:7.1f} MB  {path.name}", highlight=False)
        for each in self._left_out:
            out(f"   left out  {each}", highlight=False)
        branch = self._shop.git("rev-parse", "--abbrev-ref", "HEAD")
        out(f"\n{tag_of(self._version)} is ready, and nothing has left this machine. Next:")
        out(f"  git push origin {branch} {tag_of(self._version)}", highlight=False)
        following = f"make develop VERSION={_next_minor(self._version)}"
        out(f"  {following}: what comes after is not {self._version}", highlight=False)
        out(f"  Upload the files of dist/{SUMS}, and itself: deploy/release/publish.md says how.")


def _next_minor(version: str) -> str:
    major, minor, _ = numbers(version)
    return f"{major}.{minor + 1}.0"


def main(words: Sequence[str] | None = None, shop: Workshop | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("version", help="such as 1.0.0")
    targets = [each.target for each in ALL]
    parser.add_argument("--without", action="append", default=[], choices=targets)
    for each in PASSED_ON:
        parser.add_argument(f"--{each}", default="", metavar="ARGS", help=f"for make {each}")
    parser.add_argument("--key", default="", help="the fingerprint of the key that signs")
    parser.add_argument("--public", default="", help="where the files will be: https://…")
    parser.add_argument("--registry", default="", help="what the image will be called there")
    given = parser.parse_args(words)
    Release(shop or Workshop(TOP), given.version, given, Console(soft_wrap=True)).make()


if __name__ == "__main__":
    main()
