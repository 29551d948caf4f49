"""Pages of saved texts."""

from risala.engine.model.callers import Role
from risala.engine.model.errors import EditConflict, Invalid
from web_browser import assert_nothing_inline
from web_lists import TEXT

TEXTS = "/app/org_1/texts"
ONE = f"{TEXTS}/txt_1"


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == name]


async def test_texts_stand_by_name_each_in_its_language(owner):
    page = await owner.get(TEXTS)
    assert page.status == 200
    assert_nothing_inline(page)
    assert f'href="{ONE}"' in page.text
    assert 'lang="ar"' in page.text
    assert f'href="{TEXTS}" aria-current="page"' in page.text
    assert '<option value="en" selected>' in page.text


async def test_a_text_is_saved_once(owner, gateway):
    page = await owner.get(TEXTS)
    fields = {"name": "Réunion", "language": "fr", "text": "Bonjour {{nom}},\r\nà 16 h."}
    for _ in range(2):
        assert (await owner.submit(page, TEXTS, fields)).location == TEXTS
    assert asked(gateway, "text.create") == [
        {**fields, "text": "Bonjour {{nom}},\nà 16 h.", "organization_id": "org_1"}
    ]


async def test_what_is_refused_is_still_there(owner, gateway):
    page = await owner.get(TEXTS)
    gateway.refuse = None
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "text.create":
            raise Invalid("name", "same_name", "taken")
        return await perform(name, arguments, caller)

    gateway.perform = refuse
    fields = {"name": "Réunion", "language": "ar", "text": "<b>"}
    again = await owner.submit(page, TEXTS, fields)
    assert again.status == 422
    assert "This name is taken." in again.text
    assert "&lt;b&gt;</textarea>" in again.text
    assert '<option value="ar" selected>' in again.text


async def test_a_text_is_changed_unless_somebody_else_did(owner, gateway):
    page = await owner.get(ONE)
    assert f"{TEXT}</textarea>" in page.text
    assert 'href="/app/org_1/messages/new?saved=txt_1"' in page.text
    fields = {"name": "Autre", "language": "fr", "text": "Bonjour"}
    assert (await owner.submit(page, ONE, fields)).location == TEXTS
    assert asked(gateway, "text.set") == [{"saved_text_id": "txt_1", **fields, "version": 4}]
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "text.set":
            raise EditConflict("amina")
        return await perform(name, arguments, caller)

    gateway.perform = refuse
    again = await owner.submit(page, ONE, fields)
    assert again.status == 422
    assert "Present values:" in again.text
    assert "Bonjour</textarea>" in again.text


async def test_a_text_is_deleted_after_a_question(owner, gateway):
    page = await owner.get(f"{ONE}/delete")
    assert (await owner.submit(page, f"{ONE}/delete")).location == TEXTS
    assert asked(gateway, "text.delete") == [{"saved_text_id": "txt_1"}]
    assert (await owner.get(f"{TEXTS}/none")).status == 404


async def test_a_viewer_reads_texts(reader_as):
    viewer = reader_as(Role.VIEWER)
    for path in (TEXTS, ONE):
        page = await viewer.get(path)
        assert page.status == 200
        main = page.text.partition("<main")[2].partition("</main>")[0]
        assert 'method="post"' not in main
    assert TEXT in (await viewer.get(ONE)).text
    assert (await viewer.get(f"{ONE}/delete")).status == 403
    page = await viewer.get(TEXTS)
    for path in (TEXTS, ONE, f"{ONE}/delete"):
        assert (await viewer.submit(page, path, drawn=False)).status == 403
