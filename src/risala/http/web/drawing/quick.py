"""Jinja as quick as our templates allow: all is escaped, and what they call wants no context.

A page of a list fills a thousand places and calls five hundred things. What Jinja looks at each
time, for templates of any kind, is known of ours beforehand; what is drawn stays the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from jinja2 import Environment, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Context
from markupsafe import Markup

as_markup: Final[Callable[[str], Markup]] = partial(str.__new__, Markup)
"""Makes markup of text that is markup already: all that is not ours in it has been escaped.

``Markup`` itself first asks each text whether it is an object that draws itself."""


class QuickContext(Context):
    """Calls what a template calls, without asking first whether it wants to know the template."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*given, **named)
        # No template of ours has globals of its own, which each import would look for.
        self.globals_keys = set()

    def call(
        self,
        called: Callable[..., Any],
        /,
        *given: Any,  # noqa: ANN401 -- as it takes them
        _loop_vars: object = None,
        _block_vars: object = None,
        **named: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        return called(*given, **named)


class QuickCode(CodeGenerator):
    """Escapes what is no markup yet. Jinja hands markup through the same function, which copies it
    twice: half of a page's places are filled with markup."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:  # noqa: ANN401
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("(shown if type(shown := ")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:  # noqa: ANN401
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape:
            super()._output_child_post(node, frame, finalize)
        else:
            self.write(") is Markup else escape(shown))")


class QuickEnvironment(Environment):
    context_class: type[Context] = QuickContext
    code_generator_class: type[CodeGenerator] = QuickCode
