"""Opt-outs' words and answers by the API, for programs with a secret live key."""

import pytest
import trio

TO = "+22236123456"
WORD = {"word": "PAUSE", "role": "stop", "language": "fr"}
ANSWER = {"role": "stop", "language": "fr", "text": "{{organization}} : d’accord."}
BODIES = {
    "get": {},
    "update": {"sets": ["fr"]},
    "answer": ANSWER,
    "words/add": WORD,
    "words/remove": {"word": "PAUSE"},
    "lists/add": {"listId": "lst_1", "number": TO},
    "lists/remove": {"listId": "lst_1", "number": TO},
}


@pytest.fixture
async def news(bureau, autojump_clock):
    """An organization that heeds opt-outs, and the id of its list."""
    mine = {"organization_id": bureau.organization_id}
    await bureau.perform("inbound.opt_outs", heeds=True, **mine)
    made = await bureau.perform("list.create", name="News", **mine)
    return made["list"]["id"]


async def test_words_and_answers_are_chosen_and_shown(bureau, news, autojump_clock):
    await bureau.perform("opt_outs.demand", prefix="+2223", confirmation="required", sets="ar")
    first = await bureau.ask("/api/opt-outs/get")
    assert {name: first[name] for name in ("heeds", "sets", "answered", "back")} == {
        "heeds": True,
        "sets": [],
        "answered": [],
        "back": "person",
    }
    assert first["demands"] == [{"prefix": "+2223", "confirmation": "required", "sets": ["ar"]}]
    chosen = {"sets": ["fr", "en"], "answered": ["stop"], "back": "own"}
    changed = await bureau.ask("/api/opt-outs/update", chosen)
    assert {name: changed[name] for name in chosen} == chosen
    same = await bureau.ask("/api/opt-outs/update", {})
    assert same == changed == await bureau.ask("/api/opt-outs/get")
    cleared = await bureau.ask("/api/opt-outs/update", {"sets": [], "answered": []})
    assert (cleared["sets"], cleared["answered"], cleared["back"]) == ([], [], "own")


async def test_own_words_are_added_once_and_removed(bureau, news, autojump_clock):
    added = await bureau.ask("/api/opt-outs/words/add", WORD)
    assert await bureau.ask("/api/opt-outs/words/add", WORD) == added, "a call again is no fault"
    listed = {"word": "news", "role": "list", "language": "fr", "listId": news}
    added = await bureau.ask("/api/opt-outs/words/add", listed)
    own = [each for each in added["words"] if each["source"] == "own"]
    assert [(each["word"], each["listName"]) for each in own] == [("pause", None), ("news", "News")]
    other = {**WORD, "role": "help"}
    assert await bureau.refused("/api/opt-outs/words/add", other) == [(["word"], "word_taken")]
    nameless = {**WORD, "word": "sport", "role": "list"}
    assert await bureau.refused("/api/opt-outs/words/add", nameless) == [
        (["listId"], "list_missing")
    ]
    left = await bureau.ask("/api/opt-outs/words/remove", {"word": "Pause!"})
    assert [each["word"] for each in left["words"] if each["source"] == "own"] == ["news"]
    await bureau.ask("/api/opt-outs/words/remove", {"word": "pause"}, status=404)


async def test_an_answer_is_looked_at_before_it_is_stored(bureau, news, autojump_clock):
    def own(shown):
        return [each["text"] for each in shown["answers"] if each["own"]]

    assert own(await bureau.ask("/api/opt-outs/answer", {**ANSWER, "preview": True})) != []
    assert own(await bureau.ask("/api/opt-outs/get")) == []
    (text,) = own(await bureau.ask("/api/opt-outs/answer", ANSWER))
    assert text.endswith(" : d’accord.")
    assert own(await bureau.ask("/api/opt-outs/answer", {**ANSWER, "text": ""})) == []
    unknown = {**ANSWER, "text": "{{secret}}"}
    assert await bureau.refused("/api/opt-outs/answer", unknown) == [
        (["text"], "unknown_placeholder")
    ]


async def test_a_number_leaves_a_list_and_returns(bureau, news, autojump_clock):
    named = {"listId": news, "number": TO}
    assert await bureau.ask("/api/opt-outs/lists/add", named) == named
    await bureau.ask("/api/opt-outs/update", {"back": "hand"})
    assert await bureau.refused("/api/opt-outs/lists/remove", named) == [(["note"], "missing")]
    noted = {**named, "note": "By telephone"}
    assert await bureau.ask("/api/opt-outs/lists/remove", noted) == named
    await bureau.ask("/api/opt-outs/lists/remove", noted, status=404)
    (entry,) = (each for each in bureau.trail() if each.action == "opt_outs.list_back")
    assert entry.who == bureau.key_ids["sk_live"]
    assert "By telephone" in str(entry)


@pytest.mark.parametrize("name", BODIES)
async def test_test_keys_have_none_and_publishable_keys_no_access(
    bureau, news, autojump_clock, name
):
    path = f"/api/opt-outs/{name}"
    await bureau.ask(path, BODIES[name], "sk_test", 404)
    await bureau.ask(path, BODIES[name], "pk_live", 403)


async def test_another_organizations_list_is_not_found(bureau, news, autojump_clock):
    theirs = {"word": "news", "role": "list", "language": "fr", "listId": news}
    key = "other_sk_live"
    await bureau.ask("/api/opt-outs/words/add", theirs, key, 404)
    for name in ("add", "remove"):
        body = {"listId": news, "number": TO}
        await bureau.ask(f"/api/opt-outs/lists/{name}", body, key, 404)


@pytest.mark.parametrize(
    ("path", "body", "member", "code"),
    [
        ("update", {"sets": ["de"]}, "sets", "unknown_word"),
        ("update", {"answered": "stop"}, "answered", "not_a_list"),
        ("update", {"back": "me"}, "back", "unknown_word"),
        ("words/add", {**WORD, "word": "two words"}, "word", "invalid_word"),
        ("words/add", {**WORD, "word": "\u202e\u200b"}, "word", "invalid_word"),
        ("words/add", {**WORD, "word": "🛑"}, "word", "invalid_word"),
        ("words/add", {**WORD, "word": "x" * 21}, "word", "invalid_word"),
        ("words/add", {**WORD, "word": "a\x00b"}, "word", "invalid_characters"),
        ("answer", {**ANSWER, "text": "x" * 321}, "text", "too_long"),
        ("answer", {**ANSWER, "preview": "yes"}, "preview", "not_a_flag"),
        ("lists/add", {"listId": "", "number": TO}, "listId", "too_short"),
    ],
)
async def test_faults_are_named(bureau, news, autojump_clock, path, body, member, code):
    assert await bureau.refused(f"/api/opt-outs/{path}", body) == [([member], code)]


async def test_what_several_change_at_once_all_counts(bureau, news, autojump_clock, monkeypatch):
    """All have read before the first one is written."""
    words, gate = [f"word{letter}" for letter in "abcdefgh"], trio.Event()
    store = type(bureau.gateway.services.repositories._store)
    commit = store.commit

    async def later(self, unit, by=None):
        await gate.wait()
        return await commit(self, unit, by)

    monkeypatch.setattr(store, "commit", later)
    async with trio.open_nursery() as nursery:
        for word in words:
            nursery.start_soon(bureau.ask, "/api/opt-outs/words/add", {**WORD, "word": word})
        nursery.start_soon(bureau.ask, "/api/opt-outs/update", {"sets": ["en"]})
        nursery.start_soon(bureau.ask, "/api/opt-outs/answer", ANSWER)
        await trio.sleep(1)
        gate.set()
    shown = await bureau.ask("/api/opt-outs/get")
    assert {each["word"] for each in shown["words"] if each["source"] == "own"} == {*words}
    assert shown["sets"] == ["en"]
    assert any(each["own"] for each in shown["answers"])
