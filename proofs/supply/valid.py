"""Whether a bill of materials is one, by the schema of CycloneDX; run by ``make sbom``."""

from __future__ import annotations

import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def main(path: Path) -> int:
    """0: it is; 1: it is not, and why."""
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(path.read_text("utf-8"))
    print(f"{path}: {'valid CycloneDX 1.6' if fault is None else fault}")
    return 0 if fault is None else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
