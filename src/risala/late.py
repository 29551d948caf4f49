"""Modules of others that are loaded when they are first used, not when they are imported.

Libraries import more than they use: trio knows TLS, whether a connection has it or not, and
sqlite-utils a command line. A service that never uses one of these has no memory for it, and
starts without waiting for it.

OpenSSL is one of them: Python computes the same hashes by code of its own
(:func:`hash_without_openssl`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:
    # The import system asks for their methods, not for them; they would bring what is late here.
    Loader = MetaPathFinder = object

LATE: Final = frozenset(
    (
        "ssl",  # trio; only connections over TLS use it
        "idna",  # trio, for host names that are not ASCII
        "importlib.metadata._adapters",  # a package in its own words; imports email.message
        "sqlite_utils.recipes",  # its command line; imports dateutil
        "structlog.threadlocal",  # no longer recommended; imports greenlet
        "stringprep",  # encodings.idna, for host names that are not ASCII
        "tokenize",  # linecache and inspect, for lines of source files
        *("email.utils", "calendar"),  # ours, for times that others wrote
        "importlib.resources",  # importlib.abc; ours, for words of mails
        "zipfile",  # importlib.metadata; ours, for exports
        *("tempfile", "bz2", "lzma"),  # importlib.resources and shutil; ours, for files that change
        *("difflib", "statistics"),  # ours, for faults and for figures
    )
)
"""None of these may import anything of ours: whoever uses one first loads it, in any thread."""


def import_late() -> None:
    """From now on, import the modules that are :data:`LATE` when they are first used."""
    if not any(isinstance(each, _LateFinder) for each in sys.meta_path):
        sys.meta_path.insert(0, _LateFinder())
    # Python names an archive of its own library, which hardly any installation has: whoever looks
    # for packages would load zipfile to find that out.
    sys.path[:] = [each for each in sys.path if not each.endswith(".zip") or os.path.exists(each)]


_DIGESTS: Final = (
    *("_md5", "_sha1", "_sha3", "_blake2"),
    *(("_sha2",) if sys.version_info >= (3, 12) else ("_sha256", "_sha512")),
)
"""Modules with Python's own hashes; a build may leave them out."""
_OF_OPENSSL: Final = ("scrypt", "pbkdf2_hmac")
"""What hashlib has from OpenSSL alone, or as fast from nowhere else."""


def hash_without_openssl() -> None:
    """Have hashlib and hmac take Python's own hashes: OpenSSL's library takes 3.4 MiB.

    They take as long for a key or a token, and four times as long for a megabyte. OpenSSL is loaded
    by the first ``scrypt``, ``pbkdf2_hmac`` or TLS. Nothing changes where Python has no hashes of
    its own, or where hashlib is imported already.
    """
    if "hashlib" in sys.modules or not all(map(find_spec, _DIGESTS)):
        return
    # From Python 3.14 on, hmac knows hashes without OpenSSL too, but refuses some that hashlib has.
    blocked = [each for each in ("_hashlib", "_hmac") if each not in sys.modules]
    for each in blocked:
        sys.modules[each] = None  # type: ignore[assignment]  # the way to say: it is not there
    try:
        hashlib = import_module("hashlib")
        import_module("hmac")
    finally:
        for each in blocked:
            del sys.modules[each]
    names = vars(hashlib)
    for name in _OF_OPENSSL:
        names.pop(name, None)
    names["__getattr__"] = _by_openssl


def _by_openssl(name: str) -> object:
    """An attribute of hashlib that OpenSSL has."""
    if name in _OF_OPENSSL:
        return getattr(import_module("_hashlib"), name)
    raise AttributeError(f"module 'hashlib' has no attribute {name!r}")


class _LateModule(ModuleType):
    """A module whose code runs when it is asked for a name that it does not have yet.

    As :class:`importlib.util.LazyLoader` makes, which two threads may not use at once (until Python
    3.11.9).
    """

    def __getattr__(self, name: str) -> object:
        loader = self.__loader__
        if isinstance(loader, _LateLoader):
            loader.load(self)
        return object.__getattribute__(self, name)


class _LateLoader(Loader):
    """Runs the code of one module once, at its first use."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._lock = RLock()
        self._begun = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Only prepare the module for its first use."""
        module.__class__ = _LateModule

    def load(self, module: ModuleType) -> None:
        """Run the module's code, once; another thread waits until that is done."""
        with self._lock:
            if self._begun:  # by this thread, whose code asks for a name that is not there
                return
            self._begun = True
            try:
                self._loader.exec_module(module)
            except BaseException:
                self._begun = False
                raise
            module.__class__ = ModuleType
            module.__loader__ = self._loader
            if module.__spec__ is not None:
                module.__spec__.loader = self._loader


class _LateFinder(MetaPathFinder):
    """Finds the modules that are :data:`LATE`, where they usually are."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in LATE:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _LateLoader(spec.loader)
        return spec
