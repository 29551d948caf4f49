"""Texts of codes by name, as a page."""

from risala.engine.model.callers import Role
from risala.engine.model.errors import Invalid

PAGE = "/app/org_1/verify/templates"


def saved(gateway):
    return [asked for name, asked in gateway.done if name == "verify.templates" and len(asked) > 1]


async def test_each_is_shown_with_its_language(owner):
    page = await owner.get(PAGE)
    assert page.status == 200
    assert page.text.count("{{shop}}: {{code}}") == 3
    assert "Français" in page.text


async def test_one_is_written_and_one_removed(owner, gateway):
    form = await owner.get(PAGE)
    typed = {"name": "login", "language": "fr", "text": "{{shop}} : {{code}}"}
    page = await owner.submit(form, PAGE, typed)
    assert page.status == 303
    form = await owner.get(PAGE)
    await owner.submit(form, PAGE, {"name": "pay", "language": "ar"})
    assert [{name: each[name] for name in typed if each.get(name)} for each in saved(gateway)] == [
        typed,
        {"name": "pay", "language": "ar"},
    ]


async def test_what_is_refused_stays_in_the_form(owner, gateway, monkeypatch):
    form = await owner.get(PAGE)
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "verify.templates" and len(arguments) > 1:
            raise Invalid("text", "invalid_template", "The template must contain {{code}}.")
        return await perform(name, arguments, caller)

    monkeypatch.setattr(gateway, "perform", refuse)
    page = await owner.submit(form, PAGE, {"name": "login", "language": "", "text": "nothing"})
    assert page.status == 422
    assert "nothing" in page.text
    assert 'id="text-fault"' in page.text


async def test_a_viewer_reads_and_does_not_write(reader_as):
    page = await reader_as(Role.VIEWER).get(PAGE)
    assert page.text.count("{{shop}}: {{code}}") == 3
    assert "form_token" not in page.text.partition("<main")[2]
