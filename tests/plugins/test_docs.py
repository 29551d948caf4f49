"""Every hook is documented, with its exact signature."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from risala.plugins import contract, hookspecs, mail, payment

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "plugin-hooks.md").read_text(encoding="utf-8")
HOOKS = [name for name in vars(hookspecs) if name.startswith("risala_")]


def signature(name: str) -> str:
    return f"def {name}{inspect.signature(getattr(hookspecs, name))}".replace("'", "")


def section(name: str) -> str:
    found = re.search(rf"^### `{name}`$(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/reference/plugin-hooks.md has no section on {name}"
    return found[1]


def test_there_are_hooks():
    assert HOOKS


@pytest.mark.parametrize("name", HOOKS)
def test_hook_is_documented_with_its_signature(name):
    assert f"```python\n{signature(name)}\n```" in section(name)


def test_no_hook_is_documented_that_is_not_there():
    assert re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE) == HOOKS


FACTORIES = {
    "risala_register_drivers": contract.DriverFactory,
    "risala_register_mailers": mail.MailerFactory,
    "risala_register_payment_methods": payment.PaymentMethodFactory,
}


@pytest.mark.parametrize("hook", HOOKS)
def test_every_field_of_a_factory_is_documented(hook):
    for field, kind in inspect.get_annotations(FACTORIES[hook]).items():
        assert f"| `{field}: {kind}` |" in section(hook)
