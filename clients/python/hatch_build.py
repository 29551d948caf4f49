"""Where the client's sources are: in the repository two folders up, in the sdist beside this file.

The wheel has ``risala/client`` and no ``risala/__init__.py``: that file is the server's. Without
the server ``risala`` is a namespace package, with it the client lies in the server's package, whose
own wheel leaves the folder out. So no file is of two wheels, and either may go without the other.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "src/risala/client"


class Sources(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        here = Path(self.root)
        found = [each for each in (here / FOLDER, here.parents[1] / FOLDER) if each.is_dir()]
        if not found:
            raise FileNotFoundError(f"{FOLDER} is neither here nor two folders up.")
        target = FOLDER if self.target_name == "sdist" else FOLDER.removeprefix("src/")
        for path in sorted(found[0].glob("*")):
            if path.suffix == ".py" or path.name == "py.typed":
                build_data["force_include"][str(path)] = f"{target}/{path.name}"
