"""What dpkg is told of the package: its control file, changelog and checksums."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Final

MAINTAINER: Final = (
    f"{os.environ.get('DEBFULLNAME', 'Risala maintainers')} "
    f"<{os.environ.get('DEBEMAIL', 'maintainers@risala.example')}>"
)
"""Set both variables to build packages for others. Debian's own tools read them too."""
SYSTEMD: Final = ("sysusers", "tmpfiles")
"""What postinst calls; a container may have them without systemd."""
CONTROL: Final = """\
Package: risala
Version: {version}
Architecture: {architecture}
Section: comm
Priority: optional
Maintainer: {maintainer}
Installed-Size: {kibibytes}
Depends: {depends}
Suggests: bash-completion
Description: SMS gateway and phone verification on one machine, in any country
 Risala takes messages over HTTP or SMPP, and sends them by SMPP carriers or
 by GSM modems. It charges organizations for them, verifies phone numbers by
 codes, and delivers receipts and received messages as webhooks.
 .
 Its Python packages come along, in an environment of its own. The service
 starts once /etc/risala/risala.toml exists; "risala init" writes that file.
"""
CHANGELOG: Final = """\
risala ({version}) stable; urgency=medium

  * Risala {upstream}; changelog.gz says what is new.

 -- {maintainer}  {date}
"""


def debian_version(upstream: str, revision: str) -> str:
    """``1.0.0-1+deb12``: packages for two Debians differ, and the newer one's is the newer.

    A pre-release sorts before its release: ``1.0.0rc1`` becomes ``1.0.0~rc1``.
    """
    sorted_first = re.sub(r"\.?(a|b|rc|dev)(?=\d)", r"~\1", upstream)
    told = platform.freedesktop_os_release()
    name = {"debian": "deb"}.get(told["ID"], told["ID"])
    return f"{sorted_first}-{revision}+{name}{told.get('VERSION_ID', '')}"


def depends(python: str, libraries: str) -> str:
    """``python`` is ``python3.11``; ``libraries`` are the dependencies of native modules."""
    tools = [f"systemd | systemd-standalone-{each} | systemd-{each}" for each in SYSTEMD]
    return ", ".join(filter(None, (python, libraries, *tools, "ca-certificates")))


def changelog(version: str, upstream: str, epoch: int) -> str:
    date = format_datetime(datetime.fromtimestamp(epoch, UTC))
    return CHANGELOG.format(version=version, upstream=upstream, maintainer=MAINTAINER, date=date)


def control(root: Path, version: str, architecture: str, needed: str) -> str:
    bytes_in_all = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file())
    return CONTROL.format(
        version=version,
        architecture=architecture,
        maintainer=MAINTAINER,
        kibibytes=-(-bytes_in_all // 1024),
        depends=needed,
    )


def checksums(root: Path) -> str:
    """What ``dpkg --verify`` compares: each file of the package but those for dpkg itself."""
    files = sorted(
        path
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink() and "DEBIAN" not in path.parts
    )
    lines = [
        # MD5 is dpkg's format; it tells damage, not forgery.
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}"
        f"  {path.relative_to(root)}"
        for path in files
    ]
    return "\n".join(lines) + "\n"
