"""Pages of plugins in the console: drawn by us, for operators, and hurt by nobody's bug."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import trio

from cases import sweep
from risala.drivers.sinks.plugin import TITLE, SinksPage
from risala.http.operator import blocks
from risala.plugins.page import (
    FormField,
    OpenPage,
    PageAnswer,
    PageBlock,
    PageFigures,
    PageForm,
    PageHeading,
    PageService,
    PageTable,
    PageText,
)
from web_browser import assert_nothing_inline

EVIL = "<script>alert(1)</script>"
FORM = PageForm(
    "rename",
    "Rename",
    (
        FormField("name", "Name", value="old"),
        FormField("loud", "Loud", "check"),
        FormField("size", "Size", "choice", "s", (("s", "Small"), ("l", "Large"))),
        FormField("count", "Count", "number", hint="At least one"),
        FormField("thing", "", "hidden", "thing_1"),
    ),
    "Gives it another name.",
    "Is nothing called so?",
)
BLOCKS = (
    PageHeading(EVIL),
    PageText(EVIL),
    PageFigures((("Waiting", 1234), (EVIL, EVIL))),
    PageTable(("A", EVIL), ((1.5, EVIL), (None, True))),
    PageTable(("A",), (), "Nothing here."),
    PageTable(("Number",), tuple((each,) for each in range(700))),
    FORM,
)


class Page:
    """Shows what it is told to, and notes what is sent."""

    def __init__(self) -> None:
        self.blocks: Any = BLOCKS
        self.sent: list[tuple[str, Mapping[str, str]]] = []
        self.work: Callable[[PageService], Any] | None = None

    async def show(self, service: PageService) -> Sequence[PageBlock]:
        return await self.blocks() if callable(self.blocks) else self.blocks

    async def act(self, service: PageService, action: str, fields: Mapping[str, str]) -> PageAnswer:
        self.sent.append((action, fields))
        if self.work is not None:
            return await self.work(service)
        if fields["name"] == "bad":
            return PageAnswer("Not so.", {"name": "It is taken."})
        return PageAnswer("Renamed.")


@pytest.fixture
def pages(post) -> dict[str, OpenPage]:
    """Those that the console has; a test may add to them."""
    return post.pages


@pytest.fixture
def page(pages) -> Page:
    made = Page()
    pages["things"] = OpenPage({"en": "Things", "fr": "Choses", "ar": "أشياء"}, made)
    return made


async def test_blocks_are_drawn_in_our_frame_with_everything_escaped(page, operator):
    drawn = await operator.get("/operator/plugins/things")
    assert drawn.status == 200
    assert "<script>alert" not in drawn.text
    assert drawn.text.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 7
    assert "Things" in drawn.text
    assert "Nothing here." in drawn.text
    assert "more rows are not shown" in drawn.text
    assert_nothing_inline(drawn)


async def test_a_title_is_in_the_readers_language(page, operator):
    operator.cookies["risala-language"] = "ar"
    drawn = await operator.get("/operator/plugins/things")
    assert "أشياء" in drawn.text
    assert 'dir="rtl"' in drawn.text


async def test_a_form_reaches_the_plugin_once_with_a_line_in_the_trail(page, post, operator):
    drawn = await operator.get("/operator/plugins/things")
    form = {"action": "rename", "name": "secret", "loud": "yes"}
    marks = {name: drawn.field(name) for name in ("form_token", "once")}
    answer = await operator.post("/operator/plugins/things", {**form, **marks})
    assert (answer.status, "Renamed." in answer.text) == (200, True)
    again = await operator.post("/operator/plugins/things", {**form, **marks})
    assert again.status == 303
    assert page.sent == [("rename", {"name": "secret", "loud": "yes"})]
    assert "Is nothing called so?" in drawn.text
    assert drawn.field("thing") == "thing_1"
    (line,) = (await post.do("audit.list", operation="plugins.act"))["lines"]
    assert line["subject"] == "things"
    assert "rename" in str(line)
    assert "secret" not in str(line)


async def test_what_is_wrong_stands_beside_its_field_with_what_was_typed(page, operator):
    drawn = await operator.get("/operator/plugins/things")
    marks = {name: drawn.field(name) for name in ("form_token", "once")}
    form = {"action": "rename", "name": "bad", "count": "7"}
    answer = await operator.post("/operator/plugins/things", {**form, **marks})
    assert answer.status == 422
    for text in ("Not so.", "It is taken.", 'value="bad"', 'value="7"'):
        assert text in answer.text


async def _raise() -> None:
    raise LookupError(EVIL)


async def _exit() -> None:
    raise SystemExit(3)


@sweep(
    "blocks",
    [
        _raise,
        _exit,
        "text",
        3,
        (3,),
        (PageText(3),),  # type: ignore[arg-type]
        (PageTable(("A", "B"), (("1",),)),),
        (PageFigures((("a",),)),),  # type: ignore[arg-type]
        (PageForm("a", "b", (FormField("not a name", "x"),)),),
    ],
)
async def test_a_page_that_cannot_be_drawn_says_so_and_the_others_go_on(page, operator, blocks):
    await _refused(page, operator, blocks)


async def test_a_page_that_never_comes_says_so_and_the_others_go_on(page, operator, monkeypatch):
    # No mock clock: it jumps whenever only threads work, past the end of what is signed in.
    monkeypatch.setattr(blocks, "DRAW_S", 0.01)
    await _refused(page, operator, trio.sleep_forever)


async def _refused(page, operator, blocks):
    page.blocks = blocks
    drawn = await operator.get("/operator/plugins/things")
    assert drawn.status == 200
    assert "The plugin could not show this page." in drawn.text
    assert EVIL not in drawn.text
    assert (await operator.get("/operator/plugins")).status == 200


async def test_a_plugin_that_fails_over_a_form_is_told(page, operator):
    async def fail(_):
        raise LookupError("secret")

    page.work = fail
    drawn = await operator.get("/operator/plugins/things")
    marks = {name: drawn.field(name) for name in ("form_token", "once")}
    answer = await operator.post(
        "/operator/plugins/things", {"action": "rename", "name": "x", **marks}
    )
    assert "The plugin failed on this form." in answer.text


async def test_a_page_looks_and_does_as_the_operator_and_no_more(page, post, operator):
    told: list[str] = []

    async def look() -> Sequence[PageBlock]:
        return (PageText("drawn"),)

    async def work(service: PageService) -> PageAnswer:
        told.append((await service.look("org.list"))["organizations"][0]["name"])
        for operation in ("org.create", "message.show", "nothing"):
            with pytest.raises(PermissionError):
                await service.look(operation)
        with pytest.raises(PermissionError):
            await service.do("message.body")
        await service.do("org.create", name="By a page")
        return PageAnswer("Done.")

    page.work = work
    drawn = await operator.get("/operator/plugins/things")
    marks = {name: drawn.field(name) for name in ("form_token", "once")}
    page.blocks = look
    answer = await operator.post("/operator/plugins/things", {"action": "go", **marks})
    assert "Done." in answer.text
    assert told == ["Baraka Market"]
    (line,) = (await post.do("audit.list", operation="org.create", limit=1))["lines"]
    assert "mariem@risala.example" in str(line)


async def test_nobody_does_anything_by_looking(page, operator):
    async def show(service: PageService) -> Sequence[PageBlock]:
        await service.do("org.create", name="By a look")
        return ()

    page.show = show
    drawn = await operator.get("/operator/plugins/things")
    assert "could not show" in drawn.text


async def test_plugins_and_their_pages_are_listed(page, operator):
    drawn = await operator.get("/operator/plugins")
    assert "/operator/plugins/things" in drawn.text
    assert (await operator.get("/operator/plugins/none")).status == 404
    assert_nothing_inline(drawn)


@sweep("language", ["en", "fr", "ar"])
async def test_the_page_of_sinks_is_one_of_a_plugin(pages, operator, language):
    pages["sinks"] = OpenPage(TITLE, SinksPage())
    operator.cookies["risala-language"] = language
    drawn = await operator.get("/operator/plugins/sinks")
    assert TITLE[language] in drawn.text
    assert drawn.status == 200
