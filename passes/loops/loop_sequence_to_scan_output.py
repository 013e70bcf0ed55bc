"""Replace a sequence that a Loop fills by a scan output.

What it does: A Loop that is given an empty sequence and appends one tensor to it in each round
    becomes a Loop that gives these tensors out as a scan output, and SplitToSequence makes the
    sequence of it after the loop; what uses the sequence is then rewritten by other passes.
Why engines need it: PyTorch's scripted loops append to lists. Engines have loops with scan outputs,
    not sequences.
Before: s = Loop (n, c, SequenceEmpty ()) <body (i, c, t) => (c, SequenceInsert (t, row)) {...}>
After:
    rows = Loop (n, c) <body (i, c) => (c, row) {...}>
    s = SplitToSequence <axis = 0, keepdims = 0> (rows)
When it refuses: The sequence is not empty at first, is used in the body for anything but one
    SequenceInsert at its end, or its tensors may differ in shape from round to round.
Accuracy: Exact: no number changes.
References: https://onnx.ai/onnx/operators/onnx__Loop.html;
    https://onnx.ai/onnx/operators/onnx__SequenceInsert.html
"""

from functools import partial

from graphfix.authoring import (
    Builder,
    Editor,
    Graph,
    Node,
    NodeView,
    Refuse,
    Value,
    Values,
    copy_constants,
    copy_nodes,
    graph_pass,
    value_of,
)


@graph_pass(removes="op:SequenceEmpty op:SequenceInsert", emits="*::*")
def loop_sequence_to_scan_output(editor: Editor) -> None:
    """Change the loops that fill a sequence, see the module."""
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            if view.op == "Loop" and not view.domain and _carried(view):
                editor.replace(view, partial(_scanning, view))


def _body_of(view: NodeView) -> Graph:
    body = view.attr("body")
    assert isinstance(body, Graph)  # the checker wants one
    return body


def _carried(view: NodeView) -> list[int]:
    """Return which of the carried values are sequences."""
    states = _body_of(view).inputs[2 : len(view.inputs)]
    return [k for k, tensor in enumerate(states) if tensor.opaque is not None]


def _insert(view: NodeView, place: int) -> Node:
    """Return the SequenceInsert that fills carried value `place`.

    Raises:
        Refuse: The value is no sequence that starts empty and grows by one tensor a round.
    """
    body = _body_of(view)
    first = view.need(2 + place)
    maker = first.producer
    if maker is None or maker.op != "SequenceEmpty" or maker.domain:
        raise Refuse(f"the sequence {first.name} must be empty at first; it is not known to be")
    inside, result = body.inputs[2 + place], body.outputs[1 + place]
    node: Node | None = result.inputs[0] if result.inputs else None
    if node is None or node.op != "SequenceInsert" or node.inputs[0] is not inside:
        raise Refuse(f"the sequence {inside.name} must be filled by one SequenceInsert")
    if NodeView(node).input(2) is not None:
        raise Refuse(f"what is inserted must go to the end of {inside.name}; its position is given")
    if len(inside.outputs) != 1 or inside.output_count or result.outputs:
        raise Refuse(f"the sequence {inside.name} is read in the body by more than what fills it")
    if result.output_count != 1:
        raise Refuse(f"the sequence {result.name} must be listed once among the outputs")
    row, whole = Value(node.inputs[1]), view.output(place)
    if row.static_shape is None and not (whole is not None and _stacked(whole)):
        raise Refuse(f"the shape of {row.name} must be the same in all rounds; it may differ")
    return node


def _stacked(sequence: Value) -> bool:
    """Say whether all that is done with a sequence is to stack it, which wants equal shapes."""
    return not sequence.is_graph_output and all(
        user.op == "ConcatFromSequence" and bool(user.attr("new_axis", 0))
        for user in sequence.consumers
    )


def _scanning(view: NodeView, build: Builder) -> tuple[Value | None, ...]:
    body, places = _body_of(view), _carried(view)
    if any(value is None for value in view.inputs[2:]):
        raise Refuse("every initial value must be given; one is missing")
    inserts = [_insert(view, place) for place in places]
    count = len(view.inputs) - 2
    others = [k for k in range(count) if k not in places]
    kept = [body.inputs[0], body.inputs[1], *(body.inputs[2 + k] for k in others)]

    def make(inner: Builder, *given: Value) -> list[Value]:
        values: Values = {id(t): v for t, v in zip(kept, given, strict=True)}
        copy_constants(inner, body, values)
        skipped = {id(node) for node in inserts}
        copy_nodes(inner, [n for n in body.nodes if id(n) not in skipped], values)
        rows = [node.inputs[1] for node in inserts]
        scans = body.outputs[1 + count :]
        wanted = [body.outputs[0], *(body.outputs[1 + k] for k in others), *scans, *rows]
        return [value_of(tensor, values) for tensor in wanted]

    graph = build.body([(t.name, t.elem_type, t.shape) for t in kept], make)
    operands = [view.input(0), view.input(1), *(view.input(2 + k) for k in others)]
    results = build.multi("Loop", *operands, outputs=len(body.outputs) - 1, body=graph)
    before = len(others) + len(body.outputs) - 1 - count
    rows = results[before:]
    sequences = {
        place: build.SplitToSequence(row, axis=0, keepdims=0)
        for place, row in zip(places, rows, strict=True)
    }
    plain = dict(zip(others, results, strict=False))
    states: list[Value] = [sequences[k] if k in sequences else plain[k] for k in range(count)]
    new = [*states, *results[len(others) : before]][: len(view.outputs)]
    return tuple(
        None if old is None else value for old, value in zip(view.outputs, new, strict=True)
    )
