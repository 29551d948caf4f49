"""What people begin with: ``install.sh`` and ``compose.yaml``, with the addresses of a release.

The script has the version, the key and the public address in it. It is the same for the same
release, so that its checksum can stand in the line that people type.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.release.signing import ReleaseKey

SCRIPT: Final = Path(__file__).with_name("install.sh")
NAME: Final = "install.sh"
READMES: Final = ("README.md", "README.fr.md", "README.ar.md")
FROM_FILES: Final = "sh dist/install.sh --from dist"
"""What works from the files of a release that is not published."""
COMPOSE: Final = Path(__file__).parents[1] / "container/compose.yaml"
LOCAL: Final = "localhost/risala"
"""The image as it is named in a loaded file, and in the compose file of the source."""
_ADDRESS: Final = re.compile(r"https://[A-Za-z0-9.-]+(:\d+)?(/[A-Za-z0-9._~-]+)*")
_LINE: Final = re.compile(rf"^(?:{re.escape(FROM_FILES)}|curl \S+ \S+/{NAME} && .*)$", re.M)


_REGISTRY: Final = re.compile(r"[a-z0-9.-]+(:\d+)?(/[a-z0-9._-]+)+")


@dataclass(frozen=True)
class Published:
    """Where a version will be for everybody.

    Attributes:
        version: such as ``1.1.0``.
        public: the address of its files, without a slash at its end; empty: nowhere yet.
        registry: the image's name in a registry, without a tag; empty: in none.
    """

    version: str
    public: str = ""
    registry: str = ""

    def script(self, key: ReleaseKey) -> str:
        """``install.sh``."""
        values = {
            "VERSION": self.version,
            "FINGERPRINT": key.fingerprint,
            "PUBLIC": self.public,
            "KEY": base64.encodebytes(key.public()).decode().strip(),
        }
        return re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], SCRIPT.read_text("utf-8"))

    def one_line(self, key: ReleaseKey) -> str:
        """What a person types: it runs the script only if it is the one of this release."""
        if not self.public:
            return FROM_FILES
        digest = hashlib.sha256(self.script(key).encode()).hexdigest()
        checked = f'echo "{digest}  {NAME}" | sha256sum -c'
        return f"curl -fsSO {self.public}/{NAME} && {checked} && sh {NAME}"

    def compose(self) -> str:
        """``compose.yaml`` with this version's image: pulled, or loaded from a file."""
        text = COMPOSE.read_text("utf-8").replace(" -f deploy/container/compose.yaml", "")
        image = f"{self.registry or LOCAL}:{self.version}"
        return text.replace(f"image: {LOCAL}\n", f"image: {image}\n")


def published(version: str, public: str, registry: str) -> Published:
    """
    Raises:
        SystemExit: an address is no plain one; it goes into a script that runs.
    """
    public = public.rstrip("/")
    if public and not _ADDRESS.fullmatch(public):
        raise SystemExit(f"{public!r} is no address such as https://downloads.example.org/risala.")
    if registry and not _REGISTRY.fullmatch(registry):
        raise SystemExit(f"{registry!r} is no image such as registry.example.org/risala.")
    return Published(version, public, registry)


def tell(top: Path, line: str) -> None:
    """Write the line into the first page, in each language.

    Raises:
        SystemExit: a page has no such line.
    """
    for name in READMES:
        text, count = _LINE.subn(lambda _: line, (top / name).read_text("utf-8"))
        if not count:
            raise SystemExit(f"{name} does not say how to install: {FROM_FILES}")
        (top / name).write_text(text, "utf-8")
