"""``make sbom``: the bill of materials, CycloneDX 1.6 as JSON, into ``dist/``.

Written from the lock and the vendored files, so it names what is installed everywhere and not what
happens to be in one environment. The same source gives the same octets.
"""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Any, Final

import risala
from proofs.supply.parts import ROOT, Part, parts

SPEC: Final = "1.6"
OURS: Final = f"pkg:pypi/risala@{risala.__version__}"
_SPDX: Final = frozenset(
    (
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0"),
        *("OFL-1.1", "PSF-2.0", "Python-2.0", "Unlicense", "ZPL-2.1"),
    )
)
"""Words of the SPDX list that our parts use; what is none of them is told as a name."""


def bill() -> dict[str, Any]:
    """The whole of it."""
    found = parts()
    content = json.dumps([[each.purl, each.hashes] for each in found])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, OURS + content)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": OURS,
                "name": "risala",
                "version": risala.__version__,
                "purl": OURS,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [_component(each) for each in found],
        "dependencies": _dependencies(found),
    }


def _component(part: Part) -> dict[str, Any]:
    properties = [{"name": "risala:only-where", "value": part.only_where}]
    return {
        "type": "library",
        "bom-ref": part.purl,
        "name": part.name,
        "version": part.version,
        "purl": part.purl,
        "licenses": [_licence(part.licence)],
        "hashes": [{"alg": "SHA-256", "content": each} for each in part.hashes],
        **({"properties": properties} if part.only_where else {}),
    }


def _licence(said: str) -> dict[str, Any]:
    if said in _SPDX:
        return {"license": {"id": said}}
    words = {each.strip("()") for each in said.split()} - {"AND", "OR", "WITH"}
    return {"expression": said} if words <= _SPDX else {"license": {"name": said}}


def _dependencies(found: tuple[Part, ...]) -> list[dict[str, Any]]:
    """Who needs whom; what is vendored, the product itself does."""
    known = {each.name: each.purl for each in found if each.registry == "pypi"} | {"risala": OURS}
    needs: dict[str, list[str]] = {OURS: [], **{each.purl: [] for each in found}}
    for each in found:
        for by in each.needed_by or ("risala",):
            needs[known.get(by, OURS)].append(each.purl)
    return [{"ref": ref, "dependsOn": sorted(set(those))} for ref, those in needs.items()]


def main(target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    text = json.dumps(bill(), indent=2, ensure_ascii=False)
    target.write_text(text + "\n", "utf-8")
    print(f"{target}: {len(parts())} parts")


if __name__ == "__main__":
    default = ROOT / f"dist/risala-{risala.__version__}.cdx.json"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
