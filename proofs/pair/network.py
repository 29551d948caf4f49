"""Machines of a network of their own: network namespaces around a bridge."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import Final

NAMES: Final = ("one", "two", "db1", "db2", "front", "carrier")
"""Two machines with Risala, two with PostgreSQL, the proxy, and the carrier."""
_NET: Final = "10.77.0."
"""A network that nobody else here has; private by RFC 1918."""


class NoNamespaces(Exception):
    """This system lets nobody make them here; ``str()`` is what it said."""


def run(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise NoNamespaces(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """Made at once; :meth:`end` takes it away."""

    def __init__(self) -> None:
        self._tag = f"rp{os.getpid() % 10_000}"
        self._bridge = f"{self._tag}br"
        self._cuts: list[tuple[str, ...]] = []
        try:
            self._make()
        except BaseException:
            self.end()
            raise

    def address(self, name: str) -> str:
        return f"{_NET}{NAMES.index(name) + 1}"

    def inside(self, name: str, command: Sequence[str]) -> list[str]:
        """The command, as it runs on that machine."""
        return ["ip", "netns", "exec", self._space(name), *command]

    def _space(self, name: str) -> str:
        return f"{self._tag}{name}"

    def _wire(self, name: str) -> str:
        return f"{self._tag}v{NAMES.index(name)}"

    def _make(self) -> None:
        run("ip", "link", "add", self._bridge, "type", "bridge")
        run("ip", "addr", "add", f"{_NET}254/24", "dev", self._bridge)
        run("ip", "link", "set", self._bridge, "up")
        for name in NAMES:
            space, wire = self._space(name), self._wire(name)
            run("ip", "netns", "add", space)
            run("ip", "link", "add", wire, "type", "veth", "peer", "name", "eth0", "netns", space)
            run("ip", "link", "set", wire, "master", self._bridge, "up")
            run("ip", "-n", space, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
            run("ip", "-n", space, "link", "set", "eth0", "up")
            run("ip", "-n", space, "link", "set", "lo", "up")

    # -- what is cut

    def cut_off(self, name: str) -> None:
        """From everybody, either way."""
        run("ip", "link", "set", self._wire(name), "down")

    def join(self, name: str) -> None:
        run("ip", "link", "set", self._wire(name), "up")

    def cut_out(self, name: str, others: Sequence[str]) -> None:
        """Nothing of ``name`` reaches the others."""
        self._cut(name, "OUTPUT", "-d", others)

    def cut_back(self, name: str, others: Sequence[str]) -> None:
        """Nothing of the others reaches ``name``."""
        self._cut(name, "INPUT", "-s", others)

    def _cut(self, name: str, chain: str, which: str, others: Sequence[str]) -> None:
        for other in others:
            rule = (which, self.address(other), "-j", "DROP")
            run(*self.inside(name, ("iptables", "-A", chain, *rule)))
            self._cuts.append((name, chain, *rule))

    def mend(self) -> None:
        """All that was cut one way."""
        for name, chain, *rule in self._cuts:
            run(*self.inside(name, ("iptables", "-D", chain, *rule)), check=False)
        self._cuts = []

    def end(self) -> None:
        for name in NAMES:
            run("ip", "netns", "del", self._space(name), check=False)
            run("ip", "link", "del", self._wire(name), check=False)
        run("ip", "link", "del", self._bridge, check=False)
