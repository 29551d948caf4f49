"""The file of passwords beside the settings."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.config.files.secrets_file import read_secrets, with_secrets
from risala.config.load import load_settings

PASSWORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1)


@given(PASSWORDS, PASSWORDS)
def test_what_is_written_is_read(tmp_path_factory, one, two):
    path = tmp_path_factory.getbasetemp() / "secrets"
    text = with_secrets("# mine\nOTHER=3\nA=1\n", {"A": one, "B_2": two})
    path.write_text(text, encoding="utf-8")
    assert read_secrets(path) == {"OTHER": "3", "A": one, "B_2": two}
    assert text.startswith("# mine\nOTHER=3\n")


def test_a_line_end_is_refused():
    with pytest.raises(ValueError, match="line ends"):
        with_secrets("", {"A": "1\nB=2"})


def test_only_what_the_settings_name_is_taken(tmp_path, monkeypatch):
    monkeypatch.delenv("X_PASSWORD", raising=False)
    monkeypatch.setenv("Y_PASSWORD", "from the environment")
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    file = tmp_path / "risala.toml"
    file.write_text(
        '[[carriers]]\nname = "x"\ndriver = "smpp"\n[carriers.smpp]\nhost = "h"\n'
        'password_env = "X_PASSWORD"\nkey_env = "Y_PASSWORD"\n'
    )
    (tmp_path / "secrets").write_text("X_PASSWORD='a b'\nY_PASSWORD=file\nLD_PRELOAD=/x\n")
    load_settings(file)
    assert os.environ["X_PASSWORD"] == "a b"
    assert os.environ["Y_PASSWORD"] == "from the environment"
    assert "LD_PRELOAD" not in os.environ
    (tmp_path / "secrets").write_text("X_PASSWORD=new\n")
    load_settings(file)
    assert os.environ["X_PASSWORD"] == "new", "a changed file counts, at the next reading"
