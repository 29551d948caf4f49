"""Brings the client's sources into the service's wheel as data, of which a service makes the
client's wheel (``src/risala/http/api/clients.py``). An editable install has them where they
are written."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INTO = "risala/http/static/clients/python"


class ClientSources(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        project = root / "clients/python"
        found = [project / name for name in ("pyproject.toml", "README.md", "LICENSE")]
        for path in (*found, root / "src/risala/client"):
            build_data["force_include"][str(path)] = f"{INTO}/{path.name}"
