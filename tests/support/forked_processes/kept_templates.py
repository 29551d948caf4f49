"""Templates of the pages, compiled once in a run of the tests, whichever process draws first.

To compile them all takes a second of processor time of each process that draws a page.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final

FOLDER: Final = "TESTS_TEMPLATES"
"""A variable of the environment: where what was compiled is kept until the end of the run."""
_TEMPLATES: Final = "risala.http.web.templates"


def keep_templates() -> None:
    """From now on this process looks there first, if it has what draws pages at all."""
    folder, templates = os.environ.get(FOLDER), sys.modules.get(_TEMPLATES)
    if not folder or templates is None or hasattr(templates, FOLDER):
        return
    from jinja2 import FileSystemBytecodeCache

    kept, make = FileSystemBytecodeCache(folder), templates.QuickEnvironment

    def environment(**options: Any) -> Any:
        return make(bytecode_cache=kept, **options)

    setattr(templates, "QuickEnvironment", environment)  # noqa: B010 -- a module's own name
    setattr(templates, FOLDER, folder)
