"""The disk of a bare Debian: debootstrap fills a folder, mke2fs makes a file system of it.

A guest is told what this machine is told of the network: its names of hosts, its certificates, and
where pip looks. So it works behind a mirror too.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proofs.machine.tools import CannotRun, run

HERE: Final = Path(__file__).parent
SUITES: Final = {"12": "bookworm", "13": "trixie"}
MIRROR: Final = "http://deb.debian.org/debian"
"""Another one: MIRROR=… in the environment."""
KERNEL: Final = "linux-image-amd64"
STARTS: Final = (KERNEL, "initramfs-tools", "zstd")
"""What a machine of qemu starts by. It takes a third of the time; a container needs none of it."""
INCLUDED: Final = ("sudo", "ca-certificates")
"""What each installed Debian has, beyond what debootstrap installs by itself."""
USER: Final = "debian"
"""Who types the commands: a user with sudo, as in Debian's own images of disks."""
CERTIFICATES: Final = "etc/ssl/certs/ca-certificates.crt"
DISK: Final = "6G"
"""Room for two environments and what builds them; the file has holes where nothing is."""
ENVIRONMENT: Final = (
    "HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive"
    " PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)
AGENT: Final = f"""\
[Unit]
Description=What the host asks for
[Service]
Environment={ENVIRONMENT}
ExecStart=/bin/sh /usr/local/lib/machine-agent
Restart=always
[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class Image:
    """What a machine starts from; each machine writes its changes beside it.

    Attributes:
        root: the folder that the disk was made of, in which packages are built.
        archive: the same files for a container, which has neither a kernel nor a disk.
    """

    debian: str
    disk: Path
    kernel: Path
    initrd: Path
    root: Path
    archive: Path


def image(debian: str, folder: Path, *, is_container: bool = False) -> Image:
    """The image of a Debian, made once and kept.

    Args:
        debian: its number: ``12``.
        folder: where images are kept.
        is_container: whether it is for a container.

    Raises:
        CannotRun: debootstrap or mke2fs failed, or the Debian is unknown.
    """
    if debian not in SUITES:
        raise CannotRun(f"There is no Debian {debian} here, but {' and '.join(SUITES)}.")
    kind = "container" if is_container else "disk"
    place = folder / f"debian{debian}-{kind}-{_mark()}"
    names = ("disk.ext4", "vmlinuz", "initrd.img", "root", "root.tar")
    made = Image(debian, *(place / name for name in names))
    if not (made.archive if is_container else made.disk).exists():
        shutil.rmtree(place, ignore_errors=True)  # of a run that was cut off
        place.mkdir(parents=True)
        _debootstrap(SUITES[debian], made.root, () if is_container else STARTS)
        told(debian, made.root)
        finish = packed if is_container else _on_disk
        finish(made)
    return made


def packed(made: Image) -> None:
    """Write the archive of an image's folder, for containers."""
    unfinished = made.archive.with_suffix(".unfinished")
    command = ("tar", "-C", str(made.root), "--one-file-system", "--numeric-owner", "--xattrs")
    run(*command, "-cpf", str(unfinished), ".")
    unfinished.rename(made.archive)


def _on_disk(made: Image) -> None:
    for name, target in (("vmlinuz", made.kernel), ("initrd.img", made.initrd)):
        # Beside it may be a backup, whose name is longer.
        found = min((made.root / "boot").glob(f"{name}-*"), key=lambda each: len(each.name))
        shutil.copyfile(found, target)
    unfinished = made.disk.with_suffix(".unfinished")
    run("mke2fs", "-q", "-t", "ext4", "-L", "root", "-d", str(made.root), str(unfinished), DISK)
    unfinished.rename(made.disk)


def in_root(root: Path, script: str) -> str:
    """What a script prints that runs in a folder as if that were the machine, by root.

    Raises:
        CannotRun: it failed.
    """
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    # What is mounted goes with the process, whatever becomes of it.
    alone = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
    proc = f"mount -t proc proc {shlex.quote(str(root))}/proc"
    inside = (
        f"exec chroot {shlex.quote(str(root))} env -i {ENVIRONMENT} sh -ec {shlex.quote(script)}"
    )
    return run(*alone, "sh", "-ec", f"{proc}; {inside}")


def _mark() -> str:
    """Images of another recipe are others."""
    parts = [
        *(path.read_bytes() for path in (Path(__file__), HERE / "agent.sh")),
        _hosts().encode(),
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:8]


def _debootstrap(suite: str, root: Path, more: tuple[str, ...]) -> None:
    mirror = os.environ.get("MIRROR", MIRROR)
    run("debootstrap", f"--include={','.join((*more, *INCLUDED))}", suite, str(root), mirror)


def told(debian: str, root: Path) -> None:
    """Names, the network, the user, and the agent."""
    texts = {
        "etc/fstab": "LABEL=root / ext4 errors=remount-ro 0 1\n",
        "etc/hostname": f"debian{debian}\n",
        "etc/hosts": f"127.0.0.1 localhost debian{debian}\n::1 localhost\n{_hosts()}",
        # The addresses are those of qemu's own network.
        "etc/resolv.conf": "nameserver 10.0.2.3\n",
        "etc/network/interfaces": "auto lo\niface lo inet loopback\n"
        "auto eth0\niface eth0 inet dhcp\n",
        "etc/machine-id": "",  # empty: each machine finds one of its own at its first start
        "etc/pip.conf": _pip(),
        f"etc/sudoers.d/{USER}": f"{USER} ALL=(ALL) NOPASSWD: ALL\n",
        "usr/local/lib/machine-agent": (HERE / "agent.sh").read_text(),
        "etc/systemd/system/machine-agent.service": AGENT,
    }
    for name, text in texts.items():
        (root / name).unlink(missing_ok=True)
        (root / name).write_text(text)
    ours = Path("/", CERTIFICATES)
    if ours.exists():
        shutil.copyfile(ours, root / CERTIFICATES)
    chroot = ("chroot", str(root))
    run(*chroot, "useradd", "--create-home", "--shell", "/bin/bash", USER)
    run(*chroot, "systemctl", "enable", "machine-agent.service")
    run(*chroot, "apt-get", "clean")


def _hosts() -> str:
    """The names that this machine's own file has, but for those of itself."""
    lines = Path("/etc/hosts").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if line[:1].isdigit() and not line.startswith("127."))


def _pip() -> str:
    index = os.environ.get("PIP_INDEX_URL")
    return f"[global]\ncert = /{CERTIFICATES}\n" + (f"index-url = {index}\n" if index else "")
