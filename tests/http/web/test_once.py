"""Forms that are done once."""

import pytest

from risala.http.web import once
from risala.http.web.once import AGE_MAX_MS, OnceKeys, StaleForm

NOW_MS = 10**12


@pytest.fixture
def keys() -> OnceKeys:
    return OnceKeys()


def test_a_key_is_good_until_it_is_used(keys):
    key = keys.mint("usr_1", NOW_MS)
    assert keys.find("usr_1", key, NOW_MS) is None
    use = keys.begin(key)
    assert keys.find("usr_1", key, NOW_MS) is use
    keys.give_back(key)
    assert use.over.is_set()
    assert keys.find("usr_1", key, NOW_MS) is None


@pytest.mark.parametrize("change", [lambda key: "", lambda key: key[:-1] + "!", lambda key: "é"])
def test_a_key_that_is_not_ours(keys, change):
    with pytest.raises(StaleForm):
        keys.find("usr_1", change(keys.mint("usr_1", NOW_MS)), NOW_MS)


def test_a_key_of_another_user_of_another_process_or_of_yesterday(keys):
    key = keys.mint("usr_1", NOW_MS)
    with pytest.raises(StaleForm):
        keys.find("usr_2", key, NOW_MS)
    with pytest.raises(StaleForm):
        OnceKeys().find("usr_1", key, NOW_MS)
    with pytest.raises(StaleForm):
        keys.find("usr_1", key, NOW_MS + AGE_MAX_MS + 1)


def test_what_is_forgotten_is_not_done_again(keys, monkeypatch):
    monkeypatch.setattr(once, "USED_MAX", 2)
    used = [keys.mint("usr_1", NOW_MS + number) for number in range(3)]
    for key in used:
        keys.begin(key)
    with pytest.raises(StaleForm):
        keys.find("usr_1", used[0], NOW_MS)
    assert keys.find("usr_1", used[2], NOW_MS) is not None
