"""Turn Constant nodes into initializers.

What it does: Puts the value of a Constant node among the initializers of its graph, under the name
    of its output. The measure that it lowers is the number of Constant nodes.
Why engines need it: TensorRT 8 reads `value_int` of a Constant as a float (it becomes 0) and
    `value_ints` as an empty tensor, silently; other engines look for weights among the initializers
    only.
Before: k = Constant <value_int = 3> ()
After: k = initializer int64 {3}
When it refuses:
    Inside local functions, which have no initializers; in IR 3 models, whose initializers would
    have to be inputs; strings; a Constant that is an output of its graph. In the first two cases
    `value_int` and its kin become `value`, which engines read rightly.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Constant.html onnx/onnx-tensorrt 8.6
    builtin_op_importers.cpp, DEFINE_BUILTIN_OP_IMPORTER(Constant)
"""

from graphfix.authoring import CANONICAL, Editor, Function, NodeView, graph_pass

SHORT_FORMS = frozenset({"value_int", "value_ints", "value_float", "value_floats"})


@graph_pass(stage=CANONICAL, removes="form:Constant.*", looks_at=["Constant"])
def constant_to_initializer(editor: Editor) -> None:
    """Walk every scope once."""
    for graph in editor.graphs():
        as_nodes = isinstance(graph.root, Function) or editor.model.ir_version < 4
        for view in editor.nodes(graph, "Constant"):
            if view.domain == "":
                _convert(editor, view, as_nodes=as_nodes)


def _convert(editor: Editor, view: NodeView, *, as_nodes: bool) -> None:
    output = view.output(0)
    if output is None or not output.is_constant or output.is_graph_output:
        return
    if as_nodes and not SHORT_FORMS & set(view.attributes):
        return
    array = output.array()
    if array is None or array.dtype.kind in "OUS":
        return
    name = output.name
    editor.replace(view, lambda build: build.constant(array, replaces=name))
