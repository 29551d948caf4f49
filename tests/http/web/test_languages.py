"""Which language a reader gets, and that every sentence is there in each."""

import gettext
import re
import tomllib
from io import BytesIO
from pathlib import Path

import pytest
from babel import Locale
from babel.messages.extract import extract
from babel.messages.pofile import read_po
from jinja2 import TemplateSyntaxError
from werkzeug.datastructures import LanguageAccept

import risala.engine.features.alerts
import risala.engine.people
from risala.engine.model.people import Language
from risala.http.web import collect
from risala.http.web.collect import HTTP, KEYWORDS, untranslated, written
from risala.http.web.languages import LOCALE, load_words, preferred

MAILS = Path(risala.engine.people.__file__).parent
ALERTS = Path(risala.engine.features.alerts.__file__).parent
CATALOGUES = sorted(LOCALE.glob("*/*.po"))
_HOLES = re.compile(r"\{[a-z_]+\}")
_UNSPACED = re.compile(r"(?<![ \u00a0])(?:[;!?»](?!\w)|:(?=\s|$))|«(?![ \u00a0])")
_CODE = re.compile(r"`[^`]*`")
_EXPRESSION = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_ACT = re.compile(r"<(?=(?:a|button)\b)([^<>]*)>(.*?)</(?:a|button)>", re.DOTALL)
_LABEL = re.compile(r'aria-label="([^"]*)"')
_PART = re.compile("\ufffc([0-9]+);")
_PLURAL_YOU = re.compile(
    r"(?<!\w)و?(?:ضعوا|اختاروا|أدخلوا|أرسلوا|ابدؤوا|صفّوا|صفوا|اطلبوها?|اكتبوا|انسخوا|جرّبوا|راسلونا?"
    r"|افتحوا|أضيفوا|اسألوا|تحققوا|لكم|إليكم|منكم|عليكم|بكم|عندكم|غيركم|أنتم|رسائلكم|رقمكم|خادمكم"
    r"|برنامجكم|برامجكم|حسابكم|منظمتكم|رصيدكم)(?!\w)"
)
_DELIVERED = re.compile("سُ?لّم")
_HANDED_OVER = re.compile("حُوّل|تحويل")
OTHER_WORDS = {
    "fr": re.compile(
        r"(?i)greffon|courriel|\bremise?s?\b(?! en)|deuxième facteur|scellé|\bfuité"
        r"|(?:fichier|page) de(?:s)? (?:paramètres|configuration)"
        r"|ce qui va avec|une autre valeur|dispenser|place prise|en essaie beaucoup"
    ),
    "ar": re.compile(
        r"(?<!\w)(?:ال)?مشغّ?ل(?!\w)|العميل|عملاء|كلمة (?:ال)?سر(?!\w)|(?<!\w)كود|المرشح"
        r"|سطور|مؤسس|ملّي"
        r"|[\u064b-\u064d]|(?<!\w)(?:الوصل|وصولات|الروابط)(?!\w)|القابلة للنشر|اثنان من Webhook"
        r"|(?<!\w)(?:ال)?عامل(?:ك|كم)?(?!\w)(?! التصفية)"
        r"|لا مانع|(?<!\w)(?:ال)?مصروف|قيمة أخرى|طابور قديم"
        r"|(?<!\w)[وف]?ت(?!شغّل)\w+ Risala"  # Risala is a system, which is masculine
    ),
    "en": re.compile(
        r"(?i)\bmend|\bsealed|\bleaked\b|another value|\bwaive|\bnot right\b|row is right now"
        r"|\b(?:I|you) have stored|one stands already|the face \{|proves itself|who came by"
        r"|not as it was any|leave all of these out|nobody behind|in what do your"
        r"|^leave out$|who runs the service can|^a member did this"
    ),
}
"""Words that the table in docs/how-to/translate-the-pages.md has another word for."""


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ([("ar-MR", 1), ("fr", 0.5)], "ar"),
        ([("de", 1), ("en-GB", 0.8), ("fr", 0.9)], "fr"),
        ([("en", 0), ("de", 1)], "fr"),
        ([], "fr"),
    ],
)
def test_the_browser_is_asked(asked, language):
    assert preferred(LanguageAccept(asked)) == language


@pytest.mark.slow
def test_the_catalogues_are_those_of_the_sources():
    texts = written()
    assert {*texts} == {*CATALOGUES}
    stale = [path.name for path, text in texts.items() if path.read_text("utf-8") != text]
    assert stale == [], "`make messages` collects what the pages say"


def messages():
    for path in CATALOGUES:
        with path.open("rb") as file:
            yield from ((path, each) for each in read_po(file, locale=path.parent.name) if each.id)


def test_a_template_with_a_fault_loses_no_translation(tmp_path, monkeypatch):
    """Its sentences would count as gone; so nothing is collected before it is mended."""
    place = tmp_path / "web" / "templates"
    place.mkdir(parents=True)
    (place / "broken.html").write_text('{{ _("Name") }} {{ value "')
    monkeypatch.setattr(collect, "HTTP", tmp_path)
    with pytest.raises(TemplateSyntaxError):
        collect.collect()


def test_every_sentence_is_translated():
    found = [(f"{p.parent.name}/{p.name}", *each) for p in CATALOGUES for each in untranslated(p)]
    assert found == [], "write their `msgstr`, in src/risala/http/web/locale"


def test_a_translation_has_the_holes_of_its_sentence():
    """A form for one or two may say its number in words."""
    for path, message in messages():
        forms = [message.id] if isinstance(message.id, str) else [*message.id]
        strings = [message.string] if isinstance(message.string, str) else [*message.string]
        holes = {hole for form in forms for hole in _HOLES.findall(form)}
        told = [{*_HOLES.findall(each)} for each in strings]
        assert all(each <= holes for each in told), (path.name, message.id)
        needed = holes - ({"{n}"} if len(strings) > 1 else set())
        assert all(needed <= each for each in told), (path.name, message.id)


def test_no_translation_is_written_twice_in_a_row():
    """As a merge of two catalogues leaves it."""
    twice = [
        (path.parent.name, message.id)
        for path, message in messages()
        for said in ([message.string] if isinstance(message.string, str) else message.string)
        if len(said) > 20 and said[: len(said) // 2].strip() == said[len(said) // 2 :].strip()
    ]
    assert twice == []


def test_the_same_sentence_is_translated_the_same_way_on_all_pages():
    seen = {}
    for path, message in messages():
        if isinstance(message.id, str):
            key = path.parent.name, message.context, message.id
            assert seen.setdefault(key, message.string) == message.string, (path.name, message.id)


def said_in(source):
    """The sentences of a part of a template, each with its context."""
    told = extract("jinja2.ext:babel_extract", BytesIO(source.encode()), KEYWORDS, [], {})
    return [(context, sentence) for _, sentence, _, context in told]


def spoken_labels():
    """What a button or link of a template is called, and what stands on it."""
    for path in sorted(HTTP.rglob("*.html")):
        parts = []
        whole = _EXPRESSION.sub(
            lambda found, parts=parts: parts.append(found[0]) or f"\ufffc{len(parts) - 1};",
            path.read_text("utf-8"),
        )
        for around, inside in _ACT.findall(whole):
            label = _LABEL.search(around)
            called, shown = (
                said_in("".join(parts[int(each)] for each in _PART.findall(text)))
                for text in (label[1] if label else "", inside)
            )
            if called and shown:
                # After the label's own sentences come those that fill its holes.
                assert len(called) >= len(shown), path
                yield from ((path.name, *each) for each in zip(called, shown, strict=False))


@pytest.mark.parametrize("language", ["en", "fr", "ar"])
def test_a_label_has_the_words_that_are_seen(language):
    """Who speaks to the machine says what stands on a button."""
    known = {
        (each.context, each.id): each.string
        for path, each in messages()
        if path.parent.name == language
    }
    pairs = [*spoken_labels()]
    assert len(pairs) > 20
    wrong = []
    for name, *both in pairs:
        called, shown = (known.get(each, each[1]) for each in both)
        if not re.search(rf"(?<!\w){re.escape(shown)}(?!\w)", called):
            wrong.append((name, called, shown))
    assert wrong == []


def test_french_spaces_break_no_line():
    words = load_words(Language.FRENCH)
    assert words("Delete “{name}”?", name="x") == "Supprimer «\u00a0x\u00a0»\u00a0?"


def sentences_of(language):
    for path, message in messages():
        if path.parent.name == language:
            forms = (message.string,) if isinstance(message.string, str) else message.string
            for form in forms:
                yield path.name, message.id, _CODE.sub("", form)
        elif language == "en" and path.parent.name == "fr":
            for form in (message.id,) if isinstance(message.id, str) else message.id:
                yield path.name, message.id, _CODE.sub("", form)


def test_french_has_a_space_where_it_breaks_no_line():
    """The page makes it one that breaks no line."""
    assert [each for each in sentences_of("fr") if _UNSPACED.search(each[2])] == []


def test_french_has_the_apostrophe_of_print():
    assert [each for each in sentences_of("fr") if re.search(r"\w'\w", each[2])] == []


def test_arabic_speaks_to_one_person():
    assert [each for each in sentences_of("ar") if _PLURAL_YOU.search(each[2])] == []


def test_delivered_and_handed_over_are_different_words():
    """What a carrier took is not yet on a phone."""
    found = [*sentences_of("ar")]
    assert any(_HANDED_OVER.search(text) for _, _, text in found)
    for name, sentence, text in found:
        english = str(sentence).lower()
        assert not ("deliver" in english and _HANDED_OVER.search(text)), (name, text)
        handed = any(each in english for each in ("handed over", "given to it", "handed to"))
        assert not (handed and _DELIVERED.search(text)), (name, text)


def said_by_mail(language):
    """Sentences of mails and alerts."""
    for folder in (MAILS / "letters", ALERTS / "words"):
        path = folder / f"{language}.toml"
        for name, section in tomllib.loads(path.read_text("utf-8")).items():
            texts = section if isinstance(section, dict) else {"": section}
            for key, text in texts.items():
                yield path.name, f"{folder.name}: {name}.{key}", _CODE.sub("", str(text))


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
def test_one_term_has_one_translation(language):
    said = (*sentences_of(language), *said_by_mail(language))
    assert [each for each in said if OTHER_WORDS[language].search(each[2])] == []


def test_a_carrier_is_not_a_person_in_french():
    """`opérateur` is a carrier, whose people confirm, permit and ask nothing here."""
    person = re.compile(
        r"(?i)\bun opérateur (?:a permis|demande|a confirmé)|(?:second|deuxième) opérateur"
    )
    said = (*sentences_of("fr"), *said_by_mail("fr"))
    assert [each for each in said if person.search(each[2])] == []


CLDR_FORMS = ("zero", "one", "two", "few", "many", "other")


def test_arabic_forms_stand_in_the_order_of_cldr():
    form = Locale("ar").plural_form
    for path in sorted((LOCALE / "ar").glob("*.po")):
        with path.open("rb") as file:
            catalogue = read_po(file, locale="ar")
        chosen = gettext.c2py(catalogue.plural_expr)
        assert [CLDR_FORMS[chosen(n)] for n in range(1000)] == [form(n) for n in range(1000)], path


def test_arabic_counts_eleven_in_the_accusative():
    """``15 صفا``, but ``100 صف``: who writes the two forms in another order is noticed."""
    for path, message in messages():
        if path.parent.name == "ar" and isinstance(message.id, tuple | list):
            many, other = (re.split(r"[\s.:،؛؟!]+", form) for form in message.string[4:6])
            same = len(many) == len(other) and all(
                a in {b, f"{b}ا"} for a, b in zip(many, other, strict=True)
            )
            assert same, (path.name, message.string[4:6])


def test_arabic_counts_in_words_of_a_page():
    words = load_words(Language.ARABIC)
    counts = [words.counted("{n} row", "{n} rows", n, n=n) for n in (2, 7, 15, 100, 102, 111)]
    assert counts == ["صفان", "7 صفوف", "15 صفا", "100 صف", "102 صف", "111 صفا"]


def test_who_runs_the_service_is_no_carrier_in_french():
    """``opérateur`` is a telephone company: only a sentence about one or its SIM has the word."""
    about_a_carrier = re.compile("carrier|SIM|network|modem|phone company")
    for name, sentence, text in sentences_of("fr"):
        english = str(sentence)
        if re.search(r"\boperators?\b", english) and not about_a_carrier.search(english):
            assert "opérateur" not in text.lower(), (name, sentence)


def test_french_counts_what_is_made_and_not_what_is_to_be():
    words = load_words(Language.FRENCH)
    told = words.counted(
        "{done} of {n} message made", "{done} of {n} messages made", 3, done=1, n=3
    )
    assert told == "Messages créés\u00a0: 1 sur 3"


def test_digits_keep_their_order_in_arabic():
    """Behind an Arabic letter, what stands on both sides of a hyphen changes places: a date would
    begin with its day. Such a text fills a hole, in an isolate."""
    dates = re.compile(r"\d-\d")
    told = [
        (path.name, text)
        for path, each in messages()
        for text in ([each.string] if isinstance(each.string, str) else each.string)
        if path.parent.name == "ar" and dates.search(text)
    ]
    assert told == []


def test_signs_keep_their_place_beside_latin_in_arabic():
    """A sign at the end of Latin letters or in front of digits goes to their other side: a mark of
    direction (U+200E) stands beyond it, or a hole, which has an isolate."""
    edges = re.compile(r"https?://(?![\w\u200e{])|(?<![\w\u200e])[+-]\d")
    told = [
        (path.name, text)
        for path, each in messages()
        for text in ([each.string] if isinstance(each.string, str) else each.string)
        if path.parent.name == "ar" and edges.search(text)
    ]
    assert told == []


def test_a_name_in_a_row_begins_where_its_row_does():
    """A block with `dir="auto"` and a Latin name in it goes to the other end of an Arabic card: an
    element inside of it holds the name apart."""
    blocks = re.compile(r'<div[^>]* dir="auto">\{\{ each\.(?:description|name|title) \}\}')
    told = [path.name for path in HTTP.rglob("*.html") if blocks.search(path.read_text("utf-8"))]
    assert told == []


def test_no_template_sets_a_colon_of_its_own():
    """French has a space before it, which the sentences have."""
    colon = re.compile(r"\}\}:\s")
    set_there = [
        (path.name, line)
        for path in HTTP.rglob("*.html")
        for line in path.read_text("utf-8").splitlines()
        if colon.search(f"{_LABEL.sub('', line)}\n")
    ]
    assert set_there == []


def test_what_fills_a_hole_is_escaped():
    words = load_words(Language.ENGLISH)
    assert words("Delete {name}", name="<b>{x}</b>") == "Delete &lt;b&gt;{x}&lt;/b&gt;"
    assert words("Write {{code}} here") == "Write {{code}} here"
