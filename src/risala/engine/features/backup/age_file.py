"""Files in the age format (age-encryption.org/v1): several files in one, for some public keys.

Inside is a tar archive, so that ``age -d`` and ``tar`` open it without Risala. Both ways stream: a
chunk is in memory, whatever the size.
"""

from __future__ import annotations

import os
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from risala.engine.model.errors import StorageUnusable

MAGIC: Final = b"age-encryption.org/v1\n"
"""How each such file begins."""
IDENTITY_BYTES_MAX: Final = 65_536
"""The most bytes of a file of identities: a handful of lines."""
_SECRET: Final = "AGE-SECRET-KEY-"  # noqa: S105 -- how an identity begins
_CHUNK: Final = 1 << 20


_MEMBERS_MAX: Final = 64
"""Files inside; a backup has three."""
_HEADER_BYTES_MAX: Final = 65_536
"""The most bytes of what tells more of a member, such as a time with fractions."""
_MORE_HEADERS: Final = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)


class _BoundedInfo(tarfile.TarInfo):
    """A member whose headers are not larger than those of a backup, and which has no holes:
    ``tarfile`` reads headers as a whole, and fills holes with zeros."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("it has holes")
        if self.type in _MORE_HEADERS and not 0 <= self.size <= _HEADER_BYTES_MAX:
            raise tarfile.ReadError("its headers are too large")
        member: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return member


class _TooLarge(Exception):
    """A member has more octets than it may."""

    def __init__(self, name: str, size: int, limit: int) -> None:
        super().__init__(f"the {name} in it has {size} octets, and {limit} are the most")


class WrongIdentity(StorageUnusable):
    """The file was not encrypted for these identities."""


def is_encrypted(path: Path) -> bool:
    """Whether a file is in the age format."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def recipients_of(keys: Sequence[str]) -> list[Any]:
    """Recipients who can open a file: public keys, ``age1…``.

    Raises:
        StorageUnusable: one of them is no such key, or the library is missing.
    """
    age = _library()
    recipients = []
    for key in keys:
        try:
            recipients.append(age.x25519.Recipient.from_str(key))
        except age.RecipientError as error:
            raise StorageUnusable(
                f"{key!r} is no public key of age. One begins with `age1`; `age-keygen` prints it."
            ) from error
    return recipients


def identities_in(path: Path) -> list[Any]:
    """The secret keys in a file, as ``age-keygen`` writes it.

    Raises:
        StorageUnusable: it has none, or cannot be read.
    """
    age = _library()
    try:
        with open(path, encoding="ascii") as file:
            lines = [line.strip() for line in file.read(IDENTITY_BYTES_MAX).splitlines()]
        identities = [
            age.x25519.Identity.from_str(line) for line in lines if line.startswith(_SECRET)
        ]
    except (OSError, UnicodeDecodeError) as error:
        raise StorageUnusable(f"{path} cannot be read.") from error
    except age.IdentityError as error:
        raise StorageUnusable(f"A key in {path} is damaged: copy the whole line.") from error
    if not identities:
        raise StorageUnusable(f"{path} has no key. A line in it begins with `{_SECRET}1`.")
    return identities


def encrypt(
    files: Mapping[str, Path], target: Path, recipients: Sequence[Any], tell: Callable[[int], None]
) -> None:
    """Write some files, by their names inside, into an encrypted one.

    Args:
        tell: called on this thread, often, with the octets that have been read; what it raises
            ends the work.

    Raises:
        OSError: a file cannot be read or written.
    """
    age = _library()

    def pack(into: IO[bytes]) -> None:
        with tarfile.open(fileobj=into, mode="w|", bufsize=_CHUNK) as archive:
            done = 0
            for name, path in files.items():
                with open(path, "rb") as file:
                    info = archive.gettarinfo(arcname=name, fileobj=file)
                    info.uid = info.gid = 0
                    info.uname = info.gname = ""
                    archive.addfile(info, _Counted(file, tell, done))
                    done += info.size

    with open(target, "wb") as out:
        _fed(pack, lambda source: age.encrypt_io(source, out, recipients))
        out.flush()
        os.fsync(out.fileno())


def decrypt(
    source: Path, identities: Sequence[Any], folder: Path, limits: Mapping[str, int]
) -> dict[str, Path]:
    """Unpack an encrypted file into a folder; returns the files by their names inside.

    Nothing of it counts before this returns: the end of the file proves that it is whole.

    Args:
        limits: the names that are wanted, and how many octets each may have; others are passed
            over.

    Raises:
        WrongIdentity: it was not encrypted for these identities.
        StorageUnusable: it is damaged or cut, has something that is too large, or cannot be
            written here.
    """
    age, files = _library(), dict[str, Path]()

    def unpack(source: IO[bytes]) -> None:
        with tarfile.open(
            fileobj=source, mode="r|", bufsize=_CHUNK, tarinfo=_BoundedInfo
        ) as archive:
            for count, info in enumerate(archive):
                if count >= _MEMBERS_MAX or info.issparse() or info.size < 0:
                    raise tarfile.ReadError("not one of ours")
                content = archive.extractfile(info) if info.isreg() else None
                if content is not None and info.name in limits and info.name not in files:
                    if info.size > limits[info.name]:
                        raise _TooLarge(info.name, info.size, limits[info.name])
                    files[info.name] = folder / info.name
                    _copy(content, folder / info.name)
        while source.read(_CHUNK):
            pass  # to the end: the last chunk has to be right too

    with open(source, "rb") as file:
        try:
            _drained(lambda out: age.decrypt_io(file, out, identities), unpack)
        except age.DecryptError as error:
            raise WrongIdentity(
                f"This key does not open {source}: it is for another one."
            ) from error
        except _TooLarge as error:
            raise StorageUnusable(f"{source} cannot be unpacked: {error}.") from error
        except (OSError, tarfile.TarError, EOFError, RecursionError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is damaged or cut short"
            raise StorageUnusable(f"{source} cannot be unpacked: {reason}.") from error
    return files


def _library() -> Any:  # noqa: ANN401 -- without types of its own
    try:
        # Imported here: it is optional, and only a backup or a restore needs it.
        import pyrage
    except ImportError as error:
        raise StorageUnusable(
            "Encrypted backups need one more package: `pip install 'risala[encrypted-backup]'`."
        ) from error
    return pyrage


class _Counted:
    """A file that says how far it was read."""

    def __init__(self, file: IO[bytes], tell: Callable[[int], None], before: int) -> None:
        self._file = file
        self._tell = tell
        self._done = before

    def read(self, count: int = -1, /) -> bytes:
        data = self._file.read(count)
        self._done += len(data)
        self._tell(self._done)
        return data


def _fed(produce: Callable[[IO[bytes]], object], consume: Callable[[IO[bytes]], object]) -> None:
    """Produce here, for a thread that consumes. An error of the consumer is raised here too."""
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    with _in_thread(read_end, "rb", consume) as raised:
        try:
            with open(write_end, "wb", buffering=_CHUNK) as into:
                produce(into)
        except BrokenPipeError:
            pass  # the consumer has ended, and says why
    if raised:
        raise raised[0]


def _drained(
    produce: Callable[[IO[bytes]], object], consume: Callable[[IO[bytes]], object]
) -> None:
    """Consume here what a thread produces. The producer's error counts before one of the consumer,
    which may only have missed the rest."""
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    raised: list[BaseException] = []
    try:
        with (
            _in_thread(write_end, "wb", produce) as raised,
            open(read_end, "rb", buffering=_CHUNK) as source,
        ):
            consume(source)
    except Exception:
        if not raised or isinstance(raised[0], BrokenPipeError):
            raise
    if raised:
        raise raised[0]


@contextmanager
def _in_thread(
    end: int, mode: str, work: Callable[[IO[bytes]], object]
) -> Iterator[list[BaseException]]:
    """Work on one end of a pipe in a thread; what it raised is in the list at the end."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            with open(end, mode, buffering=_CHUNK) as file:
                work(file)
        except BaseException as error:  # noqa: BLE001 -- raised by the other thread
            raised.append(error)

    thread = threading.Thread(target=run, name="risala-age", daemon=True)
    thread.start()
    try:
        yield raised
    finally:
        thread.join()


def _copy(content: IO[bytes], path: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "wb") as out:
        while chunk := content.read(_CHUNK):
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
