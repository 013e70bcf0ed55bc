"""Replacing a computed shape vector, the second input of a node, by a constant one."""

from collections.abc import Callable
from typing import Any

import numpy as np

from graphfix.analysis.folding.known_values import know
from graphfix.authoring import APPROXIMATE, Builder, Editor, NodeView, Value

ConstantShape = Callable[[NodeView, np.ndarray[Any, Any]], "list[int] | None"]


def _no_caveat(shape: list[int]) -> str:
    return ""


def fix_computed_shapes(
    editor: Editor,
    op: str,
    constant_shape: ConstantShape,
    caveat: Callable[[list[int]], str] = _no_caveat,
) -> None:
    """Give every `op` whose shape is computed the constant that `constant_shape` finds.

    The new node has no attributes: those of the operator say how a shape is read that is gone.

    Args:
        editor: The pass's view of the model.
        op: The operator, of the default domain.
        constant_shape: What the shape becomes; None leaves the node alone.
        caveat: For which inputs that constant does not mean the same; such a site is approximate.
    """
    views = [
        view
        for graph in editor.graphs()
        for view in editor.nodes(graph, op)
        if view.domain == "" and _is_computed(view)
    ]
    if not views:
        return
    knowledge = know(editor.model)
    for view in views:
        wanted = knowledge.part(view.input(1))
        shape = None if wanted is None else constant_shape(view, wanted)
        if shape is not None:
            editor.replace(view, _with_shape(view, shape, caveat(shape)))


def _is_computed(view: NodeView) -> bool:
    shape = view.input(1)
    return shape is not None and not shape.is_constant


def _with_shape(view: NodeView, shape: list[int], caveat: str) -> Callable[[Builder], Value]:
    def make(build: Builder) -> Value:
        if caveat:
            build.declare(APPROXIMATE, caveat)
        return build.multi(view.op, view.need(0), np.array(shape, dtype=np.int64))[0]

    return make
