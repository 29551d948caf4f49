"""Images of several processors become one archive: its blobs are what their names say."""

import gzip
import hashlib
import io
import json
import lzma
import tarfile
from pathlib import Path

import pytest
from deploy.container import oci


def an_image(dist: Path, architecture: str, layers: list[bytes], told: str = "", count: int = 1):
    """A file as ``podman save`` leaves it, with texts for layers."""
    config = json.dumps(
        {"architecture": told or architecture, "os": "linux", "config": {"User": "10001:10001"}}
    ).encode()
    files = {f"{at}.tar": layer for at, layer in enumerate(layers)}
    one = {"Config": "it.json", "RepoTags": ["localhost/risala:1.1.0"], "Layers": list(files)}
    files |= {"it.json": config, "manifest.json": json.dumps([one] * count).encode()}
    path = dist / f"risala_1.1.0_{architecture}.container.tar.xz"
    with lzma.open(path, "wb", preset=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


class Opened:
    """The archive, by the names of its blobs."""

    def __init__(self, path: Path) -> None:
        self.files = {}
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member)
                self.files[member.name] = file.read()

    def at(self, descriptor: dict) -> bytes:
        content = self.files[f"blobs/sha256/{descriptor['digest'].removeprefix('sha256:')}"]
        assert f"sha256:{hashlib.sha256(content).hexdigest()}" == descriptor["digest"]
        assert len(content) == descriptor["size"]
        return content


def test_both_processors_are_behind_either_tag(tmp_path):
    an_image(tmp_path, "amd64", [b"base", b"of amd64"])
    an_image(tmp_path, "arm64", [b"base", b"of arm64"])
    path = oci.joined(tmp_path, "1.1.0")
    assert path.name == "risala_1.1.0.oci.tar"
    opened = Opened(path)
    assert json.loads(opened.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    tags = {
        each["annotations"][oci.REFERENCE]: json.loads(opened.at(each))
        for each in json.loads(opened.files["index.json"])["manifests"]
    }
    assert set(tags) == {"1.1.0", "latest"}
    assert tags["1.1.0"] == tags["latest"]
    seen = {}
    for each in tags["1.1.0"]["manifests"]:
        manifest = json.loads(opened.at(each))
        assert json.loads(opened.at(manifest["config"]))["config"] == {"User": "10001:10001"}
        layers = [gzip.decompress(opened.at(layer)) for layer in manifest["layers"]]
        seen[each["platform"]["architecture"]] = layers
    assert seen == {"amd64": [b"base", b"of amd64"], "arm64": [b"base", b"of arm64"]}


def test_the_same_images_make_the_same_archive(tmp_path):
    an_image(tmp_path, "amd64", [b"base"])
    before = oci.joined(tmp_path, "1.1.0").read_bytes()
    assert oci.joined(tmp_path, "1.1.0").read_bytes() == before


def test_an_image_of_another_processor_than_its_name_is_refused(tmp_path):
    an_image(tmp_path, "arm64", [b"base"], told="amd64")
    with pytest.raises(oci.Unlike, match=r"arm64\.container\.tar\.xz has an image for amd64"):
        oci.joined(tmp_path, "1.1.0")
    an_image(tmp_path, "arm64", [b"base"], count=2)
    with pytest.raises(oci.Unlike, match="more than one image"):
        oci.joined(tmp_path, "1.1.0")
    assert not (tmp_path / "risala_1.1.0.oci.tar").exists()
