"""One image for all processors, as an archive of OCI: made of what ``make container`` left.

Each machine builds the image of its own processor, in a file that ``podman load`` takes. Here those
of a version become one: an index names them by processor, and both tags name the index. No engine
is needed for that. ``skopeo copy --all --format v2s2 oci-archive:FILE:VERSION docker://…`` brings
it to a registry; in OCI's own format podman would leave the health check out.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

INDEX: Final = "application/vnd.oci.image.index.v1+json"
MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
CONFIG: Final = "application/vnd.oci.image.config.v1+json"
LAYER: Final = "application/vnd.oci.image.layer.v1.tar+gzip"
REFERENCE: Final = "org.opencontainers.image.ref.name"
LATEST: Final = "latest"
SQUEEZED: Final = 6
"""How hard layers are packed: 9, the most, takes thrice the time for a hundredth of the size."""


class Unlike(SystemExit):
    """A file is not the image that its name says."""


@dataclass
class Layout:
    """The folder of an OCI image, as a tar that grows; a blob of the same content is in it once."""

    archive: tarfile.TarFile
    _stored: set[str] = field(default_factory=set)

    def blob(self, content: bytes, kind: str, **more: object) -> dict[str, object]:
        """Store some octets. Returns what other blobs name them by."""
        digest = hashlib.sha256(content).hexdigest()
        if digest not in self._stored:
            self._stored.add(digest)
            self.file(f"blobs/sha256/{digest}", content)
        size = len(content)
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": size, **more}

    def document(self, content: dict[str, Any], kind: str, **more: object) -> dict[str, object]:
        return self.blob(json.dumps(content, sort_keys=True).encode(), kind, **more)

    def file(self, name: str, content: bytes) -> None:
        told = tarfile.TarInfo(name)  # no date, no owner: the same images make the same file
        told.size, told.mode = len(content), 0o644
        self.archive.addfile(told, io.BytesIO(content))


def images(dist: Path, version: str) -> list[Path]:
    """The images of a version, a file for each processor."""
    return sorted(dist.glob(f"risala_{version}_*.container.tar.xz"))


def name_of(version: str) -> str:
    """The archive's name."""
    return f"risala_{version}.oci.tar"


def joined(dist: Path, version: str) -> Path:
    """Write the image of all processors, of the files that are there.

    Raises:
        Unlike: a file has several images, or one of another processor than its name.
    """
    target = dist / name_of(version)
    unfinished = target.with_suffix(".unfinished")
    with tarfile.open(unfinished, "w") as archive:
        layout = Layout(archive)
        layout.file("oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode())
        manifests = [_taken(path, version, layout) for path in images(dist, version)]
        index = _index(manifests)
        named = [
            layout.document(index, INDEX, annotations={REFERENCE: tag}) for tag in (version, LATEST)
        ]
        layout.file("index.json", json.dumps(_index(named), sort_keys=True).encode())
    unfinished.rename(target)
    return target


def _index(manifests: Sequence[dict[str, object]]) -> dict[str, Any]:
    return {"schemaVersion": 2, "mediaType": INDEX, "manifests": list(manifests)}


def _taken(path: Path, version: str, layout: Layout) -> dict[str, object]:
    """Bring an image over: its layers, packed, and its settings as they are."""
    with lzma.open(path) as packed, tarfile.open(fileobj=packed) as archive:
        (told, *more) = json.loads(_octets(archive, "manifest.json"))
        if more:
            raise Unlike(f"{path.name} has more than one image.")
        config = _octets(archive, told["Config"])
        platform = json.loads(config)
        architecture = path.name.removeprefix(f"risala_{version}_").partition(".")[0]
        if platform["architecture"] != architecture:
            raise Unlike(f"{path.name} has an image for {platform['architecture']}.")
        layers = [
            layout.blob(gzip.compress(_octets(archive, name), SQUEEZED, mtime=0), LAYER)
            for name in told["Layers"]
        ]
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": layout.blob(config, CONFIG),
        "layers": layers,
    }
    where = {"architecture": architecture, "os": platform["os"]}
    if variant := platform.get("variant"):
        where["variant"] = variant
    return layout.document(manifest, MANIFEST, platform=where)


def _octets(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)  # it follows links: layers may be some
    assert file is not None, f"{name} is no file"
    return file.read()
