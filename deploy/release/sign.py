"""Sign a release: the list of its files, its bill of materials, the folder of apt (``make sign``).

The list begins with the version and until when it is valid. When that day nears, ``make sign``
signs the same files anew; nothing is built for it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from deploy.release import apt, installer
from deploy.release.artefacts import SUMS, sums
from deploy.release.installer import Published
from deploy.release.signing import ReleaseKey, release_key

TOP: Final = Path(__file__).parents[2]
SBOM: Final = "risala.cdx.json"
KEYRING: Final = "risala-archive-keyring.gpg"
COMPOSE: Final = "compose.yaml"
_LINE: Final = re.compile(r"^[0-9a-f]{64}  ([^/\s]+)$", re.M)


def told(dist: Path, version: str, files: Sequence[Path], moment: datetime) -> Path:
    """Write the list of a release's files. Its first lines are for ``install.sh`` alone."""
    until = moment + apt.VALID_FOR
    head = f"# Risala {version}\n# Date: {moment:%Y-%m-%d}\n# Valid-Until: {until:%Y-%m-%d}\n"
    path = dist / SUMS
    path.write_text(head + sums(list(files)), "utf-8")
    return path


def begun(dist: Path, release: Published, key: ReleaseKey) -> list[Path]:
    """Write what people begin with: the script, the compose file and the key."""
    texts = {installer.NAME: release.script(key), COMPOSE: release.compose()}
    for name, text in texts.items():
        (dist / name).write_text(text, "utf-8")
    (dist / KEYRING).write_bytes(key.public())
    return [dist / name for name in (*texts, KEYRING)]


def signed(
    dist: Path, version: str, files: Sequence[Path], key: ReleaseKey, moment: datetime
) -> list[Path]:
    """Sign the list of a release's files, and make the folder of apt. Returns the signatures."""
    debs = [each for each in files if each.suffix == ".deb"]
    if debs:
        apt.written(dist / "apt", debs, key, moment)
    bills = [each for each in files if each.name == SBOM]
    return [key.detached(each) for each in (*bills, told(dist, version, files, moment))]


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make sign", description=__doc__)
    parser.add_argument("key", help="the fingerprint of the release's key")
    parser.add_argument("--dist", type=Path, default=TOP / "dist", help="the release")
    given = parser.parse_args(words)
    dist: Path = given.dist
    text = (dist / SUMS).read_text("utf-8")
    found = re.match(r"# Risala (\S+)\n", text)
    files = [dist / name for name in _LINE.findall(text)]
    if not found or sums(files) != text.partition("\n# Valid-Until: ")[2].partition("\n")[2]:
        raise SystemExit(f"{dist} has not the files of its {SUMS}. Make the release again.")
    moment = datetime.now(UTC)
    signed(dist, found[1], files, release_key(given.key), moment)
    print(f"Risala {found[1]} is signed anew, valid until {moment + apt.VALID_FOR:%Y-%m-%d}.")


if __name__ == "__main__":
    main()
