"""An address to listen on, with its port."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from risala.config.faces import HttpSection
from risala.config.kinds import bind_parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("127.0.0.1:8081", ("127.0.0.1", 8081)),
        ("localhost:0", ("localhost", 0)),
        ("[::1]:65535", ("::1", 65_535)),
    ],
)
def test_parts(text, parts):
    bind = HttpSection(console_bind=text).console_bind
    assert bind is not None
    assert bind_parts(bind) == parts


@pytest.mark.parametrize(
    "text", ["", "8081", ":8081", "127.0.0.1", "127.0.0.1:", "::1:8081", "a:65536", "a:-1", "a:٨"]
)
def test_what_is_none(text):
    with pytest.raises(ValidationError):
        HttpSection(console_bind=text)
