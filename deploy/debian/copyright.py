"""The package's copyright file: Risala's own licence, and that of each part that comes along.

Run by the Python that has them installed::

    python -m deploy.debian.copyright FILE
"""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Final

from proofs.supply.parts import Part, parts

HEAD: Final = """\
Risala is an SMS gateway with phone verification, in any country.

Copyright 2026 the contributors to Risala

Licensed under the Apache License, Version 2.0. On Debian systems its text is in
/usr/share/common-licenses/Apache-2.0.

The package has unchanged parts that other people wrote, each under its own licence. Their notices
and texts are below /usr/lib/risala/lib/python3.*/site-packages: of a Python package in its folder
NAME.dist-info, of files for browsers beside them in risala/http/static/vendor.

"""


def comes_along(part: Part) -> bool:
    """Some lines of the lock are for other systems."""
    if part.registry != "pypi":
        return True
    try:
        metadata.distribution(part.name)
    except metadata.PackageNotFoundError:
        return False
    return True


def main(path: str) -> None:
    rows = [f"{part.name} {part.version}: {part.licence}" for part in parts() if comes_along(part)]
    Path(path).write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
