"""What a preset may be, and what a hook's own table may be."""

import json

import pytest

from risala.engine.features.hooks.rules.mapping import (
    ALTERNATIVES_MAX,
    POINTER_DEPTH_MAX,
    SOURCE_CHARACTERS_MAX,
    TEMPLATE_CHARACTERS_MAX,
    MappingError,
    mapping_of,
)
from risala.engine.features.hooks.rules.presets import (
    CUSTOM,
    TABLE_CHARACTERS_MAX,
    HookKind,
    PresetError,
    custom_preset,
    preset,
    preset_of,
    presets,
)
from risala.engine.features.hooks.rules.requests import HookFault, HookProof

TABLE = {
    "title": "A program",
    "kind": "home",
    "proofs": ["bearer"],
    "sends": "text",
    "to": "request",
    "answer": "json",
    "mapping": {"to": "/to", "text": "/text"},
}


def test_every_file_is_a_preset_and_their_order_is_by_kind():
    kinds = [each.kind for each in presets()]
    assert kinds == sorted(kinds, key=[*HookKind].index)
    assert all(preset(each.name) is each for each in presets())
    assert preset("nothing") is None
    for each in presets():
        assert (each.mapping is None) == (each.name == CUSTOM)
        assert each.to == "request" or each.sends == "text"


def test_a_secret_is_shown_as_it_is_pasted():
    assert preset("supabase-auth").pasted(HookProof.STANDARD_WEBHOOKS, "whsec_A") == "v1,whsec_A"
    assert preset("logto").pasted(HookProof.BEARER, "A") == "Bearer A"
    assert preset("logto").pasted(HookProof.PATH, "A") == "A"
    assert preset("authentik").pasted(HookProof.BEARER, "A") == "A"
    for each in presets():
        assert not each.secret_prefix or each.pasted(each.proofs[0], "") == each.secret_prefix


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"colour": "red"}, "`colour`"),
        ({"name": "x"}, "`name`"),
        ({"title": ""}, "`title`"),
        ({"title": "a\nb"}, "`title`"),
        ({"kind": "games"}, "`kind`"),
        ({"kind": ["home"]}, "`kind`"),
        ({"proofs": []}, "`proofs`"),
        ({"proofs": ["bearer", "bearer"]}, "`proofs`"),
        ({"proofs": ["magic"]}, "`proofs`"),
        ({"proofs": [{}]}, "`proofs`"),
        ({"proofs": ["header"]}, "`header`"),
        ({"header": "X-A"}, "`header`"),
        ({"proofs": ["header"], "header": "X A"}, "`header`"),
        ({"sends": "mail"}, "`sends`"),
        ({"to": "everyone"}, "`to`"),
        ({"to": "fixed"}, "`to`"),
        ({"mapping": {"text": "/text"}}, "`to`"),
        ({"mapping": None}, "`mapping`"),
        ({"mapping": []}, "`mapping`"),
        ({"answer": "xml"}, "`answer`"),
        ({"repeat_s": 0}, "`repeat_s`"),
        ({"repeat_s": True}, "`repeat_s`"),
        ({"repeat_s": 3601}, "`repeat_s`"),
        ({"suffix": "/../x y"}, "`suffix`"),
        ({"tried": {"version": "1"}}, "`tried`"),
    ],
)
def test_a_wrong_preset_says_what_is_wrong(change, word):
    assert preset_of("x", TABLE).title == "A program"
    with pytest.raises(PresetError) as told:
        preset_of("x", {**TABLE, **change})
    assert word in str(told.value)


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"to": "/a"},
        {"text": "/a", "body": "/b"},
        {"text": 7},
        {"text": "/a", "reads": "xml"},
        {"text": "/a", "each": "a"},
        {"text": "/a", "each": "/~2"},
        {"text": "/a~"},
        {"text": "a b"},
        {"text": "cookie:a"},
        {"text": "header:a b"},
        {"text": "/a||/b"},
        {"text": "{{/a}"},
        {"text": "{{/a}} }}"},
        {"text": "{{}}"},
        {"text": "{{ {{/a}} }}"},
        {"text": "/a" * (POINTER_DEPTH_MAX + 1)},
        {"text": "|".join(["/a"] * (ALTERNATIVES_MAX + 1))},
        {"text": "/" + "a" * SOURCE_CHARACTERS_MAX},
        {"text": "{{/a}}" + "x" * TEMPLATE_CHARACTERS_MAX},
        {"text": "{{/a}}" * 1_000_000},
        {"text": "x" * 1_000_000},
    ],
)
def test_a_wrong_mapping_is_refused_in_one_short_sentence(table):
    with pytest.raises(MappingError) as told:
        mapping_of(table)
    assert 0 < len(str(told.value)) < 160


def test_a_hook_s_own_table_is_a_preset():
    found = custom_preset(json.dumps({"mapping": {"to": "to", "code": "otp"}, "sends": "code"}))
    assert (found.name, found.sends, found.answer, found.title) == (
        CUSTOM,
        "code",
        "json",
        "Other software",
    )
    alerts = custom_preset(json.dumps({"mapping": {"text": "msg"}, "to": "fixed"}))
    assert alerts.mapping.is_cut


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 4000,
        "9" * 4400,
        '{"mapping": "x"}',
        '{"mapping": {"text": "/a"}}',
        '{"mapping": {"to": "/a", "text": {"a": 1}}}',
        '{"mapping": {"to": "/a", "text": "/b"}, "proofs": 7}',
        '{"mapping": {"to": "/a", "text": "/b"}, "answer": NaN}',
        " " * TABLE_CHARACTERS_MAX + "{}",
    ],
)
def test_a_wrong_table_of_a_hook_is_a_fault(text):
    found = custom_preset(text)
    assert isinstance(found, HookFault)
    assert found.code == "invalid_mapping"
    assert found.sentence.endswith(".")
