"""Modules of others that are loaded at their first use."""

import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest

from risala import late


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
