"""Write the rounds of a Loop one after the other.

What it does: Where trip count and conditions are constants, the nodes of the body are copied once
    for each round, with the round's number as a constant; what becomes constant by that is folded
    at once. Scan outputs are joined by Unsqueeze and Concat. `loop-unrolling` rolls out loops alone
    whose body an engine cannot take: it carries a sequence or makes one, or sizes and bounds change
    from round to round. `loop-to-rounds` rolls out all loops, for engines that have none, or whose
    loops collect nothing and read nothing from outside.
Why engines need it: TensorRT's loops take no sequences, and nothing that a loop carries along may
    be the bound of a Slice or the shape of a Reshape. OpenVINO crops nothing in a Resize: with a
    constant region that becomes a product. OpenCV has no Loop before 5.0, and reads few there.
Before: y = Loop (2, true) <body (i, c) => (c, r) { r = Slice (x, starts[i], ends[i]) ... }>
After: y = Concat <axis = 0> (Unsqueeze (Slice (x, [0], [2])), Unsqueeze (Slice (x, [2], [4])))
When it refuses: Trip count or condition are computed at run time, there is no round at all, there
    are more rounds than max_rounds or more nodes than max_nodes, or a body cannot be copied.
Accuracy: Exact: the same operators on the same values.
References: https://onnx.ai/onnx/operators/onnx__Loop.html
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec import Struct, field

from graphfix.analysis.folding.known_values import Knowledge, know
from graphfix.authoring import (
    SIZES,
    Array,
    Builder,
    Editor,
    Graph,
    NodeView,
    Option,
    Refuse,
    Tensor,
    Value,
    Values,
    copy_constants,
    copy_nodes,
    graph_pass,
    is_empty,
    value_of,
)

_SIZED = tuple(sorted(SIZES.keys() - {"OneHot", "Upsample"}))
_SEQUENCES = ("SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceInsert")
_KEPT_ELEMENTS = 4096
_LIMITS = {
    "max_rounds": Option(int, 32, "Loops with more rounds are left alone."),
    "max_nodes": Option(int, 4000, "No loop becomes more nodes than this."),
}


@graph_pass(
    removes=(
        *(f"shape:{op}.loop-variable" for op in _SIZED),
        "op:SequenceEmpty op:SequenceInsert",
        "attr:Resize.coordinate_transformation_mode=tf_crop_and_resize",
    ),
    emits="*::*",
    options=_LIMITS,
)
def loop_unrolling(editor: Editor) -> None:
    """Roll out the loops that need it, inner ones first, see the module."""
    _roll_out(editor, _needs_it)


@graph_pass(
    removes="op:Loop form:Loop.scan-outputs scope:outer-tensor", emits="*::*", options=_LIMITS
)
def loop_to_rounds(editor: Editor) -> None:
    """Roll out all loops for an engine that has none, see the module."""
    _roll_out(editor, lambda view: True)


def _roll_out(editor: Editor, wanted: Callable[[NodeView], bool]) -> None:
    loops = [
        view
        for graph in editor.graphs()
        for view in editor.nodes(graph)
        if view.op == "Loop" and not view.domain and wanted(view)
    ]
    if not loops:
        return
    knowledge = know(editor.model)
    for view in reversed(loops):
        editor.replace(view, partial(_emitted, view, knowledge, editor))


def _emitted(
    view: NodeView, knowledge: Knowledge, editor: Editor, build: Builder
) -> tuple[Value | None, ...]:
    return _Rounds(view, build, knowledge, editor).emit()


def _needs_it(view: NodeView) -> bool:
    body = _body_of(view)
    if any(t.opaque is not None for t in body.inputs):
        return True
    own = {id(t) for t in body.inputs}
    for node in body.nodes:
        if node.op in _SEQUENCES:
            return True
        sizes = SIZES[node.op] if node.op in _SIZED else ()
        if any(_depends(t, own) for place, t in enumerate(node.inputs) if place in sizes):
            return True
    return False


def _depends(tensor: Tensor, own: set[int]) -> bool:
    front, seen = [tensor], {id(tensor)}
    while front:
        found = front.pop()
        if id(found) in own:
            return True
        for maker in found.inputs:
            if maker.op in ("Shape", "Size"):
                continue
            for operand in maker.inputs:
                if id(operand) not in seen:
                    seen.add(id(operand))
                    front.append(operand)
    return False


def _body_of(view: NodeView) -> Graph:
    body = view.attr("body")
    assert isinstance(body, Graph)  # the checker wants one
    return body


class _Rounds(Struct):
    """The rounds of one loop.

    Attributes:
        view: The loop.
        build: Where the copies go.
        knowledge: What is constant.
        editor: Its options.
        scanned: The values of each scan output, round by round.
    """

    view: NodeView
    build: Builder
    knowledge: Knowledge
    editor: Editor
    scanned: list[list[Value]] = field(default_factory=list[list[Value]])

    def emit(self) -> tuple[Value | None, ...]:
        """Return what stands for the outputs of the loop."""
        view, body = self.view, _body_of(self.view)
        count = self._trip_count()
        carried = [value for value in view.inputs[2:] if value is not None]
        if len(carried) < len(view.inputs) - 2:
            raise Refuse("every initial value must be given; one is missing")
        self.scanned = [[] for _ in body.outputs[1 + len(carried) :]]
        shared: Values = {}
        copy_constants(self.build, body, shared)
        for tensor in body.initializers:
            array = self.knowledge.full(Value(tensor))
            if array is not None:
                self.knowledge.take(shared[id(tensor)].tensor, array)
        going, number = self._truth(view.input(1)), 0
        while going and (count is None or number < count):
            if number >= self.editor.option("max_rounds"):
                raise Refuse(f"there must be at most max_rounds = {number} rounds; there are more")
            going, carried = self._round(number, carried, shared)
            number += 1
            if len(self.build.nodes) > self.editor.option("max_nodes"):
                raise Refuse(
                    f"there must be at most {self.editor.option('max_nodes')} nodes (max_nodes);"
                    " there are more"
                )
        if not number:
            raise Refuse("the loop must have a round; it has none")
        joined = [self._joined(values) for values in self.scanned]
        results = [*carried, *joined][: len(view.outputs)]
        return tuple(
            None if old is None else new for old, new in zip(view.outputs, results, strict=True)
        )

    def _trip_count(self) -> int | None:
        given = self.view.input(0)
        if given is None:
            return None
        array = self.knowledge.full(given)
        if array is None or array.size != 1:
            raise Refuse(
                f"the trip count {given.name} must be a constant; it is computed at run time"
            )
        return int(array.reshape(()))

    def _truth(self, value: Value | None) -> bool:
        if value is None:
            return True
        array = self.knowledge.full(value)
        if array is None or array.size != 1:
            raise Refuse(
                f"the condition {value.name} must be a constant; it is computed at run time"
            )
        return bool(array.reshape(()))

    def _round(self, number: int, carried: list[Value], shared: Values) -> tuple[bool, list[Value]]:
        body = _body_of(self.view)
        values = dict(shared)
        values[id(body.inputs[0])] = self._constant(body.inputs[0], np.int64(number))
        values[id(body.inputs[1])] = self._constant(body.inputs[1], np.bool_(True))
        for tensor, value in zip(body.inputs[2:], carried, strict=True):
            values[id(tensor)] = value
        copy_nodes(self.build, body.nodes, values, self._known)
        outputs = [value_of(tensor, values) for tensor in body.outputs]
        for values_so_far, value in zip(self.scanned, outputs[1 + len(carried) :], strict=True):
            values_so_far.append(value)
        return self._truth(outputs[0]), outputs[1 : 1 + len(carried)]

    def _constant(self, like: Tensor, number: np.generic) -> Value:
        return self._kept(self.build, np.asarray(number).reshape((1,) * len(like.shape or ())))

    def _kept(self, build: Builder, array: Array) -> Value:
        value = build.constant(array)
        self.knowledge.take(value.tensor, array)
        return value

    def _known(
        self, build: Builder, view: NodeView, operands: list[Value | None]
    ) -> Sequence[Value] | None:
        """Return constants for what a copy of the node would give, where they are known."""
        if view.domain or any(True for _ in view.node.graphs()):
            return None
        if not operands:
            array = self.knowledge.full(view.output(0))
            return None if array is None else [self._kept(build, array)]
        unknown = any(v is not None and self.knowledge.full(v) is None for v in operands)
        if unknown and view.op not in ("Shape", "Size"):
            return None
        before = len(build.nodes)
        attributes: dict[str, Any] = view.written()
        op = view.op
        if op == "CastLike" and operands[1] is not None and operands[1].elem_type:
            op, attributes, operands = "Cast", {"to": operands[1].elem_type}, operands[:1]
        copies = build.multi(op, *operands, outputs=len(view.outputs), **attributes)
        arrays = self.knowledge.learn(NodeView(build.nodes[-1]))
        if len(arrays) == len(copies) and all(
            array is not None and array.size <= _KEPT_ELEMENTS for array in arrays
        ):
            del build.nodes[before:]
            return [self._kept(build, array) for array in arrays if array is not None]
        if any(is_empty(tensor) for tensor in view.node.outputs):
            del build.nodes[before:]
            return None
        return copies

    def _joined(self, values: list[Value]) -> Value:
        rows = [self.build.Unsqueeze(value, axes=[0]) for value in values]
        return rows[0] if len(rows) == 1 else self.build.Concat(*rows, axis=0)
