"""Give Reshape and Expand a constant shape where enough of it is known."""

from collections.abc import Callable
from typing import Any

import numpy as np

from graphfix.analysis.folding.known_values import know
from graphfix.authoring import (
    APPROXIMATE,
    CANONICAL,
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    graph_pass,
)

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


@graph_pass(stage=CANONICAL, removes="shape:*", emits="Expand", looks_at=["Expand"])
def expand_shape_to_constant(editor: Editor) -> None:
    """Give Expand a constant shape where each size is known or that of the input.

    What it does: Replaces a computed shape vector by a constant: known sizes as they are, 1 ("no
        change") for a size that is that of the input at the same place, counted from the end. The
        measure that it lowers is the number of Expand nodes whose shape is computed.
    Why engines need it: TensorRT evaluates computed shapes on the host, with many limits on what
        may are there.
    Before:
        n = Gather (Shape (x), {0})               # x: float[N,1,8]
        y = Expand (x, Concat (n, {4, 8}))
    After: y = Expand (x, {1, 4, 8})
    When it refuses: It leaves alone a shape of which a size is neither known nor that of the input.
    Accuracy: Exact: broadcasting a size N with N and with 1 gives N. Two dimensions with one symbol
        have one size.
    References: https://onnx.ai/onnx/operators/onnx__Expand.html
        https://onnx.ai/onnx/repo-docs/IR.html#static-tensor-shapes (symbols of dimensions)
    """
    fix_computed_shapes(editor, "Expand", _shape_of_expand)


def _shape_of_expand(view: NodeView, wanted: np.ndarray[Any, Any]) -> list[int] | None:
    """Return the constant that means the same as the shape known in part; None without one."""
    data = view.need(0).shape
    if wanted.ndim != 1 or data is None:
        return None
    sizes: list[int] = []
    for back, size in enumerate(reversed(wanted.tolist()), start=1):
        own = data[-back] if back <= len(data) else None
        if isinstance(size, int):
            if size < 0 or (isinstance(own, int) and size != own and 1 not in (own, size)):
                return None
            sizes.append(size)
        elif size is not None and size == own:
            sizes.append(1)
        else:
            return None
    return sizes[::-1]


@graph_pass(stage=CANONICAL, removes="shape:*", emits="Reshape", looks_at=["Reshape"])
def reshape_shape_to_constant(editor: Editor) -> None:
    """Give Reshape a constant shape where all of it but one size is known.

    What it does: Replaces a computed shape vector by a constant: known sizes as they are, 0 ("as in
        the input") for a size that is that of the input at the same place, and -1 ("what is left")
        for one other size. The arithmetic that computed the vector dies with its last consumer. The
        measure that it lowers is the number of Reshape nodes whose shape is computed.
    Why engines need it: TensorRT evaluates computed shapes on the host, with many limits on what
        may are there, and before 7.0 not at all; exporters trace `x.view(x.size(0), -1, 64)` into a
        dozen nodes.
    Before:
        n = Gather (Shape (x), 0)                 # x: float[N,12,8]
        y = Reshape (x, Concat (Unsqueeze (n), {96}))
    After: y = Reshape (x, {-1, 96})
    When it refuses: It leaves alone a shape of which two sizes or more are neither known nor those
        of the input, and with `allowzero` a shape with a known 0 or of which two sizes are unknown.
    Accuracy: Exact, but for one form. The shape computed at run time holds as many elements as the
        input, or the node fails. So where one size u is unknown and the others multiply to p > 0, u
        = elements / p, which is what -1 stands for, whether u is written as itself, as 0 or as -1.
        A copied size is the same number: two dimensions with one symbol have one size. Where 0 and
        -1 are together the site is labelled approximate and says why: for an input with elements it
        is the same; an empty one (a copied size is 0 at run time) engines refuse then, which they
        would have taken before.
    References: https://onnx.ai/onnx/operators/onnx__Reshape.html
        https://onnx.ai/onnx/repo-docs/IR.html#static-tensor-shapes (symbols of dimensions)
    """
    fix_computed_shapes(editor, "Reshape", _shape_of_reshape, _caveat)


def _caveat(shape: list[int]) -> str:
    """Say for which inputs the constant does not mean the same; see `Accuracy`."""
    together = 0 in shape and -1 in shape
    return "the same for inputs with elements; engines refuse an empty one" if together else ""


def _shape_of_reshape(view: NodeView, wanted: np.ndarray[Any, Any]) -> list[int] | None:
    """Return the constant that means the same as the shape known in part; None without one."""
    if wanted.ndim != 1:
        return None
    try:
        zero_is_zero = bool(view.attr("allowzero", 0))
    except Refuse:
        return None
    data = view.need(0).shape or ()
    sizes: list[int] = []
    copies: list[int] = []
    left = 0
    for position, size in enumerate(wanted.tolist()):
        own = data[position] if position < len(data) else None
        if isinstance(size, int):
            if size < -1 or (size == 0 and zero_is_zero):
                return None
            left += size == -1
            sizes.append(own if size == 0 and isinstance(own, int) else size)
        elif size is not None and size == own and not zero_is_zero:
            copies.append(position)
            sizes.append(0)
        else:
            left += 1
            sizes.append(-1)
    if left > 1:
        return None
    others = [size for position, size in enumerate(sizes) if position not in copies]
    if left == 0 and len(copies) == 1 and all(size > 0 for size in others):
        sizes[copies[0]] = -1  # holds without trust in symbols, for an empty batch too
    return sizes
