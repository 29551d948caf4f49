"""Words of opt-outs on the dashboard: without script, for each role, in each language."""

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import FieldFault, Invalid

PAGE = "/app/org_1/inbound/words"
OF_LIST = "/app/org_1/lists/lst_1/opt-out"


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == name]


async def test_the_page_shows_what_counts_and_what_would_be_sent(owner):
    page = await owner.get(PAGE)
    assert page.status == 200
    for shown in ("TERMINÉ", "UNSUBSCRIBE", "DESABONNER"):
        assert (shown in page.text) is (shown != "UNSUBSCRIBE")
    assert "a network asks for it" in page.text
    assert "Baraka : &lt;b&gt;tapez&lt;/b&gt; STOP NEWS." in page.text
    assert "texts that begin with it also go to a route" in page.text
    assert "an opt-out is never confirmed" in page.text
    assert "your own text" in page.text
    assert "Parents &lt;6e&gt;" in page.text


@pytest.mark.parametrize(
    ("language", "said"), [("fr", "Mots de désinscription"), ("ar", "كلمات إلغاء الاشتراك")]
)
async def test_it_speaks_three_languages(reader_as, language, said):
    reader = reader_as(Role.OWNER, language=language)
    assert said in (await reader.get(PAGE)).text


async def test_what_is_chosen_is_asked_for(owner, gateway):
    page = await owner.get(PAGE)
    chosen = {"sets": "fr", "first": "fr", "answered": "help", "back": "hand"}
    assert (await owner.submit(page, PAGE, chosen)).status == 303
    expected = {"sets": ["fr"], "answered": ["help"], "back": "hand"}
    assert asked(gateway, "opt_outs.words")[-1] == {"organization_id": "org_1", **expected}
    await owner.submit(page, f"{PAGE}/add", {"word": "adieu", "means": "stop", "language": "fr"})
    new = {"word": "adieu", "role": "stop", "language": "fr", "list_id": None}
    assert asked(gateway, "opt_outs.add_word") == [{"organization_id": "org_1", **new}]
    await owner.submit(page, f"{PAGE}/remove", {"removed": "terminé"})
    assert asked(gateway, "opt_outs.remove_word")[0]["word"] == "terminé"


async def test_an_answer_is_looked_at_before_it_is_saved(owner, gateway):
    page = await owner.get(PAGE)
    typed = {"answer_to": "stop", "answer_in": "fr", "text": "{{organization}}: <i>fini</i>."}
    shown = await owner.submit(page, f"{PAGE}/answer", {**typed, "preview": "yes"})
    assert shown.status == 200
    assert "Baraka: &lt;i&gt;fini&lt;/i&gt;." in shown.text
    assert "not saved yet" in shown.text
    assert (await owner.submit(page, f"{PAGE}/answer", typed)).status == 303
    before, after = asked(gateway, "opt_outs.answer")
    assert (before["preview"], after.get("preview")) == (True, None)
    await owner.submit(page, f"{PAGE}/answer", {**typed, "usual": "yes"})
    assert asked(gateway, "opt_outs.answer")[-1]["text"] == ""


async def test_what_is_refused_stays_in_the_form(owner, gateway):
    page = await owner.get(PAGE)
    given = {"word": "quit", "means": "help", "language": "fr"}
    gateway.refuse_word = Invalid.of([FieldFault("word", "word_taken", "no")])
    refused = await owner.submit(page, f"{PAGE}/add", given)
    assert refused.status == 422
    assert "This word means something else already." in refused.text
    assert 'value="quit"' in refused.text


async def test_viewers_see_it_and_change_nothing(reader_as):
    viewer = reader_as(Role.VIEWER)
    page = await viewer.get(PAGE)
    assert "TERMINÉ" in page.text
    assert "form_token" not in page.text.partition('id="h-settings"')[2]


async def test_a_number_leaves_one_list_and_comes_back(owner, gateway):
    page = await owner.get(f"{OF_LIST}?number=%2B22236120001")
    assert "Opt out of this list?" in page.text
    await owner.submit(page, OF_LIST, {"number": "+22236120001", "out": "yes"})
    await owner.submit(page, OF_LIST, {"number": "+22236120001", "out": "no", "note": "asked"})
    mine = {"organization_id": "org_1", "list_id": "lst_1", "number": "+22236120001"}
    assert asked(gateway, "opt_outs.list_out") == [{**mine, "note": None}]
    assert asked(gateway, "opt_outs.list_back") == [{**mine, "note": "asked"}]
