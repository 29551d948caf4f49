"""What people do with texts of codes by name."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.features.session_details.records import (
    TEMPLATES,
    CodeTemplate,
    CodeTemplates,
)
from risala.engine.features.session_details.rules import named_template_fault
from risala.engine.features.session_details.stored_texts import CodeTemplateRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    OfOrganization,
    any_text,
    fault,
    maybe,
    text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Invalid
from risala.engine.model.records.verify.sessions import TEMPLATE_NAME_CHARACTERS_MAX
from risala.engine.rules.roles import DEVELOPERS, READERS, VIEWERS
from risala.engine.rules.verify_settings import language_fault

_MOST: Final = TEMPLATE_NAME_CHARACTERS_MAX
_is_name: Final = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{_MOST - 1}}}").fullmatch


def _name(value: object) -> str:
    name = text(value)
    if not _is_name(name):
        raise fault(
            "invalid_name",
            f"`{{name}}` must be at most {_MOST} small letters of English, digits, _ and -.",
        )
    return name


def _template(value: object) -> str:
    template = any_text(value).strip()
    wrong = named_template_fault(template) if template else None
    if wrong is not None:
        raise fault("invalid_template", wrong.replace("{", "{{").replace("}", "}}"))
    return template


_Language = Annotated[
    str | None,
    PlainValidator(maybe(text)),
    ArgumentKind("language; left out: for all others"),
]


class WriteTemplate(OfOrganization):
    """Show an organization's texts of codes by name, after changing one if a name is given."""

    name: Annotated[str | None, PlainValidator(maybe(_name)), ArgumentKind("name of a text")] = None
    language: _Language = None
    text: Annotated[
        str | None,
        PlainValidator(maybe(_template)),
        ArgumentKind("text with `{{code}}`; empty: it is removed"),
    ] = None


OPERATIONS: Final = Operations()


@OPERATIONS(
    TEMPLATES,
    roles=VIEWERS,
    operators=READERS,
    reserved={"name": DEVELOPERS, "language": DEVELOPERS, "text": DEVELOPERS},
    owner=owners.named,
    changes=CodeTemplates,
)
async def _write(call: Call[WriteTemplate]) -> CodeTemplates:
    arguments, organization_id = call.arguments, call.arguments.organization_id
    call.services.accounts.fresh_organization(organization_id)
    templates = call.stored(CodeTemplateRepository)
    if arguments.name is None:
        if arguments.text is not None:
            raise Invalid("name", "required", "`name` is required: it is the text's own.")
        return CodeTemplates(organization_id, tuple(templates.templates_of(organization_id)))
    language, template = arguments.language or "", arguments.text or ""
    texts = call.services.settings.code_texts
    if language and (fault := language_fault("language", language, texts)):
        raise Invalid.of([fault])
    details = {"name": arguments.name, "language": language, "text": template}
    by = call.audit(organization_id=organization_id, details=details)
    return await templates.put(
        by, CodeTemplate(organization_id, arguments.name, language, template)
    )
