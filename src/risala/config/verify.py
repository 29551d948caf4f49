"""Settings of one-time codes that are the operator's; an organization has its own beside them."""

from __future__ import annotations

from pathlib import Path

from pydantic import PrivateAttr, model_validator

from risala.config.kinds import Section
from risala.sms.code_texts.catalogue import CodeTexts, built_in, with_folder


class VerifySection(Section):
    """One-time codes: what the operator sets for all organizations."""

    texts_folder: Path | None = None
    """The folder with texts of codes in more languages: a file for each, ``am.toml`` for Amharic,
    with four texts (`docs/how-to/translate-the-pages.md`). A file of a built-in language
    replaces its texts. It is read at the start."""
    links_in_variables: bool = False
    """Allow links in ``variables``, the words that a request puts into a text of codes. Then a
    stolen secret key can send people to a page of somebody else's."""

    _texts: CodeTexts | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _read_texts(self) -> VerifySection:
        if self.texts_folder is not None:
            self._texts = with_folder(self.texts_folder)
        return self

    @property
    def texts(self) -> CodeTexts:
        """The texts of codes by language."""
        return built_in() if self._texts is None else self._texts
