"""Brings into the service's wheel, as data, what is written elsewhere: the client's sources, of
which a service makes the client's wheel (``src/risala/http/api/clients.py``), and the handbook's
chapters (``src/risala/http/web/handbook``). An editable install has both where they are written."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INTO = "risala/http/static/clients/python"
HANDBOOK = "risala/http/static/handbook"


class ClientSources(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        project = root / "clients/python"
        found = [project / name for name in ("pyproject.toml", "README.md", "LICENSE")]
        for path in (*found, root / "src/risala/client"):
            build_data["force_include"][str(path)] = f"{INTO}/{path.name}"
        docs = root / "docs"
        if not docs.is_dir():  # of a tree without the documentation: its wheel has no handbook
            return
        chapters = runpy.run_path(str(root / "src/risala/http/web/handbook/sections.py"))
        for name in chapters["files"]((docs / chapters["LIST"]).read_text(encoding="utf-8")):
            if (docs / name).is_file():
                build_data["force_include"][str(docs / name)] = f"{HANDBOOK}/{name}"
