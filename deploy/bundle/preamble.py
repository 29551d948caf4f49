"""Runs before Risala when somebody starts ``risala.pyz``: says so where it cannot run.

The bundle has modules made for one Python and one kind of processor. Any other would end in an
``ImportError`` that names neither.
"""

import platform
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

SITE = Path(globals()["site_packages"])  # by shiv
MODULE = "_pydantic_core"

if not any((SITE / "pydantic_core" / f"{MODULE}{end}").exists() for end in EXTENSION_SUFFIXES):
    made = [path.name[len(MODULE) + 1 : -3] for path in SITE.glob(f"pydantic_core/{MODULE}.*.so")]
    here = f"Python {platform.python_version()} on {platform.machine()}"
    sys.exit(
        f"This file was built for {', '.join(made)}. This is {here}: build it here by make bundle."
    )
