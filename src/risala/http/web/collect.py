"""``make messages``: collects the texts to translate into the catalogues below ``locale/``.

A text in a template or a module goes into the catalogue of its page: ``keys.html``, all of
``keys/`` and ``keys.py`` into ``keys.po``, those of the console into ``operator_PAGE.po``; texts
that all pages share into ``web.po``. A translation is kept as long as its sentence exists, also
when the sentence moves to another page; unused ones are removed. Nothing is guessed: a changed
sentence is a new one.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

from risala.engine.model.people import Language
from risala.http.web.languages import LOCALE, empty_catalogue

HTTP: Final = Path(__file__).parents[1]
ENGINE: Final = HTTP.parent / "engine"
CLI: Final = HTTP.parent / "cli"
RECORDS: Final = ("model/records/**/*.py", "features/*/records.py")
"""In the engine: the labels and hints of their fields are sentences of forms."""
SHARED: Final = "web"
CONSOLE: Final = "operator"
FIRST_RUN: Final = "first_run"
TOLD: Final = ("first_run/*.py",)
"""In the commands: what the first run's page tells too."""
FACES: Final = ("web", "dashboard", CONSOLE, FIRST_RUN)
TRANSLATED: Final = (Language.FRENCH, Language.ARABIC)
"""The sources are in English."""
KEYWORDS: Final[Mapping[str, tuple[int | tuple[int, str], ...] | None]] = {
    "_": None,
    "words": None,
    "N_": None,
    "among": ((1, "c"), 2),
    "NC_": ((1, "c"), 2),
    "counted": (1, 2),
}
_STRICT: Final = {"silent": "false"}
"""Faults of templates are raised: a template that was skipped would count as one without
sentences, and its translations would be removed."""
_HEADER: Final = """\
# Sentences of the pages. English stands in msgid; write the translation into msgstr.
# docs/how-to/translate-the-pages.md says how.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Language: {language}\\n"
"Plural-Forms: {plurals}\\n"

"""
_Key = tuple[str, str]
"""Context, or nothing, and the (first form of the) sentence."""


def domain_of(path: Path) -> str:
    """The catalogue that a source's sentences belong into."""
    if path.is_relative_to(ENGINE):
        return SHARED
    if path.is_relative_to(CLI):
        return FIRST_RUN
    face, *inner = path.relative_to(HTTP).parts
    if face in (SHARED, FIRST_RUN):
        return face
    inner = [part for part in inner if part != "templates"]
    page = inner[0].rsplit(".", 1)[0]
    return f"{CONSOLE}_{page}" if face == CONSOLE else page


def sources() -> Iterator[Path]:
    for folder, patterns in ((ENGINE, RECORDS), (CLI, TOLD)):
        for pattern in patterns:
            yield from sorted(folder.glob(pattern))
    for face in FACES:
        yield from sorted((HTTP / face).rglob("*.py"))
        yield from sorted((HTTP / face).rglob("*.html"))


def collect() -> dict[str, Catalog]:
    """The texts to translate, by catalogue."""
    catalogues: defaultdict[str, Catalog] = defaultdict(Catalog)
    for path in sources():
        method = "python" if path.suffix == ".py" else "jinja2.ext:babel_extract"
        root = next(each for each in (HTTP, ENGINE, CLI) if path.is_relative_to(each))
        place = path.relative_to(root).as_posix()
        with path.open("rb") as file:
            for _, message, _, context in extract(method, file, KEYWORDS, ["Note:"], _STRICT):
                catalogues[domain_of(path)].add(message, locations=[(place, 0)], context=context)
    return dict(catalogues)


def catalogue_text(template: Catalog, language: Language, known: Mapping[_Key, Catalog]) -> str:
    """One catalogue as its file has it."""
    whole = empty_catalogue(language)
    for message in sorted(template, key=_key):
        old = known.get(_key(message))
        kept = None if old is None else old.get(_key(message)[1], message.context)
        same = kept is not None and type(kept.id) is type(message.id)
        whole.add(
            message.id,
            kept.string if kept is not None and same else "",
            locations=sorted(set(message.locations)),
            context=message.context,
        )
    out = BytesIO()
    write_po(out, whole, width=100, omit_header=True, include_lineno=False)
    header = _HEADER.format(language=language.value, plurals=whole.plural_forms)
    return header + out.getvalue().decode()


def written() -> dict[Path, str]:
    """The file of every catalogue, and its expected content."""
    templates = collect()
    files: dict[Path, str] = {}
    for language in TRANSLATED:
        known = _known(language)
        for domain, template in sorted(templates.items()):
            if len(template):
                path = LOCALE / language.value / f"{domain}.po"
                files[path] = catalogue_text(template, language, known)
    return files


def _known(language: Language) -> dict[_Key, Catalog]:
    """The catalogue that has each sentence's translation today."""
    catalogues: dict[_Key, Catalog] = {}
    for path in sorted((LOCALE / language.value).glob("*.po")):
        with path.open("rb") as file:
            catalogue = read_po(file, locale=language.value)
        for message in catalogue:
            if message.id and message.string and message.string != ("",) * catalogue.num_plurals:
                catalogues.setdefault(_key(message), catalogue)
    return catalogues


def _key(message: object) -> _Key:
    context, sentence = getattr(message, "context", None), getattr(message, "id", "")
    return context or "", sentence if isinstance(sentence, str) else sentence[0]


def main() -> int:
    """Write all catalogues, and print the missing translations."""
    texts = written()
    for path in LOCALE.glob("*/*.po"):
        if path not in texts:
            path.unlink()
    missing = 0
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for context, sentence in untranslated(path):
            missing += 1
            print(f"{path.relative_to(LOCALE)}: {context} {sentence!r}")
    print(f"{missing} sentences are not translated.")
    return 0


def untranslated(path: Path) -> Iterator[_Key]:
    """The texts that a catalogue does not translate."""
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.parent.name)
    for message in catalogue:
        strings = message.string if isinstance(message.string, tuple | list) else (message.string,)
        if message.id and not all(strings):
            yield _key(message)


if __name__ == "__main__":
    sys.exit(main())
