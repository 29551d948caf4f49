"""Modules of others that are loaded at their first use."""

import hashlib
import hmac
import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest

from risala import late

NAMES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b")
"""Hashes that every Python has."""


@pytest.fixture
def finder(monkeypatch):
    """Modules named ``slowly…`` are late; the finder and they are gone afterwards."""
    names = ("slowly", "slowly_broken")
    monkeypatch.setattr(late, "LATE", frozenset(names))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    late.import_late()
    late.import_late()
    yield
    for name in names:
        sys.modules.pop(name, None)


def write(path, monkeypatch, **modules):
    for name, text in modules.items():
        (path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(path)


@pytest.mark.parametrize("name", sorted(late.LATE))
def test_every_name_is_a_module(name):
    """A library that has moved one would bring it back into memory."""
    assert find_spec(name) is not None


@pytest.mark.usefixtures("finder")
def test_a_module_is_loaded_when_it_is_first_used(tmp_path, monkeypatch, capsys):
    write(tmp_path, monkeypatch, slowly="print('loaded')\nVALUE = 7\n")
    import slowly

    assert capsys.readouterr().out == ""
    assert slowly.VALUE == 7
    assert slowly.VALUE == 7
    assert capsys.readouterr().out == "loaded\n"
    assert type(slowly) is type(sys)
    assert not isinstance(slowly.__loader__, late._LateLoader)
    assert slowly.__spec__.loader is slowly.__loader__
    with pytest.raises(AttributeError, match="missing"):
        _ = slowly.missing


@pytest.mark.usefixtures("finder")
def test_a_name_taken_from_a_module_loads_it(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch, slowly="__all__ = ['VALUE']\nVALUE = 7\nOTHER = 8\n")
    names = {}
    exec("from slowly import *", names)
    assert names["VALUE"] == 7
    assert "OTHER" not in names


@pytest.mark.usefixtures("finder")
def test_what_a_module_says_at_its_load_is_said_at_each_use(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch, slowly_broken="raise RuntimeError('not here')\n")
    import slowly_broken

    for _ in range(2):
        with pytest.raises(RuntimeError, match="not here"):
            _ = slowly_broken.VALUE


@pytest.mark.usefixtures("finder")
def test_threads_that_come_together_get_the_whole_module(tmp_path, monkeypatch):
    text = "import time\nCOUNT = 1\ntime.sleep(0.1)\nVALUE = 7\n"
    write(tmp_path, monkeypatch, slowly=text)
    import slowly

    values = []
    threads = [threading.Thread(target=lambda: values.append(slowly.VALUE)) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert values == [7] * 4


def test_an_archive_that_is_not_there_is_not_searched(tmp_path, monkeypatch):
    there = tmp_path / "plugins.zip"
    there.touch()
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(there), str(tmp_path / "python.zip"), ""])
    late.import_late()
    assert sys.path == [str(tmp_path), str(there), ""]


def test_hashes_are_the_same_without_openssl():
    """In a process that has imported neither: OpenSSL comes with what only it has."""
    code = (
        "import sys; from risala.late import hash_without_openssl; hash_without_openssl()\n"
        "import hashlib, hmac, secrets, uuid\n"
        "def made(name): return hmac.new(b'key', b'text', name).hexdigest()\n"
        f"print(*(hashlib.new(each, b'text').hexdigest() for each in {NAMES}))\n"
        f"print(*map(made, {NAMES}), hmac.digest(b'key', b'text', 'sha256').hex())\n"
        "print('_hashlib' in sys.modules, hasattr(hashlib, 'nothing'))\n"
        "print(hashlib.scrypt(b'p', salt=b's', n=2, r=1, p=1).hex())\n"
        "print(hashlib.pbkdf2_hmac('sha256', b'p', b's', 2).hex(), '_hashlib' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    made = [hmac.new(b"key", b"text", each).hexdigest() for each in NAMES]
    assert done.stdout.splitlines() == [
        " ".join(hashlib.new(each, b"text").hexdigest() for each in NAMES),
        " ".join((*made, made[NAMES.index("sha256")])),
        "False False",
        hashlib.scrypt(b"p", salt=b"s", n=2, r=1, p=1).hex(),
        f"{hashlib.pbkdf2_hmac('sha256', b'p', b's', 2).hex()} True",
    ]


def test_hashes_stay_where_they_are_imported_already():
    before = dict(vars(hashlib))
    late.hash_without_openssl()
    assert vars(hashlib) == before


def test_a_python_without_hashes_of_its_own_keeps_those_of_openssl(monkeypatch):
    monkeypatch.setattr(late, "_DIGESTS", ("_no_such_hash",))
    monkeypatch.delitem(sys.modules, "hashlib")
    late.hash_without_openssl()
    assert "hashlib" not in sys.modules


def test_late_modules_work_as_usual():
    """All of them, in a process that imports them before anything else."""
    code = (
        "from risala.late import LATE, import_late; import_late(); import importlib, sys\n"
        "for name in sorted(LATE): dir(importlib.import_module(name)).index('__name__')\n"
        "import ssl, idna, calendar\n"
        "assert ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED\n"
        "assert idna.encode('münchen.de') == b'xn--mnchen-3ya.de'\n"
        "assert calendar.timegm((1970, 1, 1, 0, 0, 0)) == 0\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
