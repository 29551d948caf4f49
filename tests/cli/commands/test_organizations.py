"""Organizations on the terminal, where nobody pays."""

import re


def test_parts_of_today_are_shown_where_nobody_pays(risala, tmp_path):
    """A balance of 0.00 would look as if nothing could be sent; programs still get it."""
    place = ("--data", str(tmp_path / "data"))
    assert risala("org", "create", "Shop", *place).exit_code == 0
    assert "BALANCE" in risala("org", "list", *place).output
    assert risala("payer", "set", "self", "--yes", *place).exit_code == 0
    for command in (("org", "list"), ("org", "show")):
        told = risala(*command, *place).output
        assert "0 of " in told, told
        assert re.search(r"(?<![\d:])0\.00", told) is None, told  # no part of a time
        assert '"balance": "0.00"' in risala(*command, *place, "--json").output
