"""An organization's Verify configuration (specification §2.6); its faults are named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import ErrorDetails

from risala.engine.model.errors import FieldFault, Invalid
from risala.engine.model.records.verify.settings import Bounds
from risala.engine.rules.template import (
    DEFAULT_LOCALE,
    freeze,
    is_app_hash,
    is_origin,
    render,
    template_fault,
)
from risala.sms.code_texts.catalogue import CodeText, CodeTexts, built_in
from risala.sms.segment import SegmentCount, count

BOUNDS: Final[Mapping[str, Bounds]] = {
    "code_length": Bounds(4, 8),
    "expiry_minutes": Bounds(1, 60),
    "attempts_max": Bounds(1, 100),
    "per_phone_per_hour": Bounds(1, 10_000),
    "per_organization_per_hour": Bounds(1, 1_000_000),
    "client_ip_per_hour": Bounds(0, 10_000),
}
"""The least and the most of the numeric settings; pages show them too."""
ENTRIES_MAX: Final = 20
"""Hashes, and hosts, of one organization: every send looks through them."""
_Hashes = Annotated[tuple[str, ...], Field(max_length=ENTRIES_MAX)]


def _within(name: str) -> Any:  # noqa: ANN401 -- what pydantic's Field is
    return Field(ge=BOUNDS[name].low, le=BOUNDS[name].high)


def _checked(template: str) -> str:
    if fault := template_fault(template):
        raise ValueError(fault)
    return template


_Template = Annotated[str, AfterValidator(_checked)]
"""Each is checked separately, so that a fault names its language."""


class VerifySettings(BaseModel):
    """Settings of one organization; the specification's defaults apply to the rest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code_length: Annotated[int, _within("code_length")] = 6
    """Digits in the code."""
    expiry_minutes: Annotated[int, _within("expiry_minutes")] = 10
    """Validity of a code. Whole minutes, because the SMS names them."""
    attempts_max: Annotated[int, _within("attempts_max")] = 5
    """Failed checks that end the session."""
    per_phone_per_hour: Annotated[int, _within("per_phone_per_hour")] = 5
    per_organization_per_hour: Annotated[int, _within("per_organization_per_hour")] = 100
    client_ip_per_hour: Annotated[int, _within("client_ip_per_hour")] = 0
    """Codes for users of one address, as callers with a secret key name it; 0: any number."""
    own_codes: bool = False
    """Whether callers with a secret key may send codes of their own."""
    never_share: bool = False
    """Whether texts end with a line that asks their reader to share the code with nobody."""
    language: str | None = None
    """The language of sends without a ``locale``; None: they use ``template``."""
    template: _Template | None = None
    """The template for sends without any language; None: the built-in English one."""
    templates: dict[str, _Template] = {}
    """Templates by language; other languages have a built-in one."""
    sender: str | None = None
    """An approved sender; None: the service's default."""
    app_hashes: _Hashes = ()
    """Android SMS Retriever hashes that a send may ask for."""
    origins: _Hashes = ()
    """Hosts that a send may bind its code to."""
    _texts: CodeTexts = PrivateAttr(default_factory=built_in)

    def model_post_init(self, context: CodeTexts | None, /) -> None:
        if context is not None:
            self._texts = context

    @field_validator("language")
    @classmethod
    def _check_language(cls, language: str | None, info: ValidationInfo) -> str | None:
        if language is not None:
            _want_language(language, info.context)
        return language

    @field_validator("templates")
    @classmethod
    def _check_templates(cls, templates: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        for locale in templates:
            _want_language(locale, info.context)
        return templates

    @field_validator("app_hashes")
    @classmethod
    def _check_app_hashes(cls, hashes: tuple[str, ...]) -> tuple[str, ...]:
        if not all(is_app_hash(text) for text in hashes):
            raise ValueError("An app hash has 11 base64 characters.")
        return hashes

    @field_validator("origins")
    @classmethod
    def _check_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        if not all(is_origin(text) for text in origins):
            raise ValueError("An origin is a host name in lower case, like example.com.")
        return origins

    def template_of(self, locale: str | None) -> str:
        """The template of a send's language; None: of a send without one."""
        locale = locale or self.language
        if locale is None:
            return self.template or self._texts[DEFAULT_LOCALE].code
        return self.templates.get(locale) or self._texts[locale].code

    def language_of(self, locale: str | None, *, has_own_text: bool) -> str | None:
        """The language of a send's text; None: an own text without one, of an unknown language.

        Args:
            has_own_text: a feature wrote the text, by its name.
        """
        unknown = has_own_text or self.template
        return locale or self.language or (None if unknown else DEFAULT_LOCALE)

    def words_of(self, locale: str | None) -> CodeText:
        """What is built in for a send's language; None: for a send without one."""
        return self._texts[locale or self.language or DEFAULT_LOCALE]

    def frozen(
        self, template: str, locale: str | None, app_hash: str | None, origin: str | None
    ) -> str:
        """A template as a send's text, complete except for the code."""
        if self.never_share:
            template = f"{template}\n{self.words_of(locale).never_share}"
        return freeze(template, self.expiry_minutes, app_hash, origin)

    def text(self, locale: str | None, app_hash: str | None, origin: str | None) -> str:
        """The frozen text of a code SMS: complete except for the code."""
        return self.frozen(self.template_of(locale), locale, app_hash, origin)

    def faults_of(
        self, locale: str | None, app_hash: str | None, origin: str | None
    ) -> list[FieldFault]:
        """The faults of a send's own parameters, under the API's names."""
        faults = []
        if locale is not None and (fault := language_fault("locale", locale, self._texts)):
            faults.append(fault)
        for path, requested, registered in (
            ("appHash", app_hash, self.app_hashes),
            ("origin", origin, self.origins),
        ):
            if requested is not None and requested not in registered:
                text = f"`{path}` is not registered in the organization's Verify configuration."
                faults.append(FieldFault(path, "not_registered", text))
        return faults

    def sizes(self) -> Iterator[tuple[tuple[str | None, bool, bool], SegmentCount]]:
        """What each text of a code takes, by its language (None: without one), whether it has the
        line of an app, and that of a page; only of what is registered, and the longest of it."""
        plain = self.model_copy(update={"language": None})
        hashes = (None, *self.app_hashes[:1])
        hosts = (None, *sorted(self.origins, key=len)[-1:])
        for locale, app_hash, origin in product((None, *self._texts), hashes, hosts):
            kind = (locale, app_hash is not None, origin is not None)
            yield kind, plain.size(plain.text(locale, app_hash, origin))

    def size(self, frozen: str) -> SegmentCount:
        """Alphabet, segments and length of a frozen text with its code in it."""
        return size_of(frozen, self.code_length)

    def filled(self, frozen: str) -> str:
        """A frozen text with a code in it that is none: zeros, as many as a code has digits."""
        return filled(frozen, self.code_length)


def filled(frozen: str, code_length: int) -> str:
    """A frozen text with a code in it that is none: zeros."""
    return render(frozen, "0" * code_length)


def size_of(frozen: str, code_length: int) -> SegmentCount:
    """Alphabet, segments and length of a frozen text with a code of so many digits in it."""
    return count(filled(frozen, code_length))


def language_fault(path: str, language: str, texts: CodeTexts) -> FieldFault | None:
    """What is wrong with a language of codes; None: there are texts in it."""
    if language in texts:
        return None
    return FieldFault(path, "invalid_locale", f"`{path}` must be one of {', '.join(texts)}.")


def _want_language(language: str, texts: CodeTexts | None) -> None:
    known = built_in() if texts is None else texts
    if language not in known:
        raise ValueError(
            f"{language!r} is not a supported language. Use one of: {', '.join(known)}."
        )


def stored_settings(values: dict[str, Any], texts: CodeTexts) -> VerifySettings:
    """Settings as they are stored. What they say of a language that the operator has taken away
    does not count."""
    language = values.get("language")
    if language is not None and language not in texts:
        values = {**values, "language": None}
    if templates := values.get("templates"):
        own = {name: text for name, text in templates.items() if name in texts}
        values = {**values, "templates": own}
    return parse_verify_settings(values, texts)


def parse_verify_settings(values: dict[str, Any], texts: CodeTexts | None = None) -> VerifySettings:
    """Settings from plain values.

    Args:
        texts: those of the service; None: the built-in ones.

    Raises:
        Invalid: each fault, with its path and a sentence.
    """
    try:
        return VerifySettings.model_validate(values, context=texts)
    except ValidationError as error:
        raise Invalid.of([_fault(each) for each in error.errors()]) from None


_SENTENCES: Final = {
    "greater_than_equal": "must be at least {ge}.",
    "less_than_equal": "must be at most {le}.",
    "too_long": "must have at most {max_length} entries.",
    "int_type": "must be a whole number.",
    "extra_forbidden": "there is no such setting.",
}


def _fault(error: ErrorDetails) -> FieldFault:
    path = ".".join(map(str, error["loc"]))
    sentence = _SENTENCES.get(error["type"])
    if sentence is None:
        text = error["msg"].removeprefix("Value error, ").removesuffix(".") + "."
    else:
        text = sentence.format_map(error.get("ctx", {}))
    return FieldFault(path, "invalid_setting", f"`{path}`: {text}")
