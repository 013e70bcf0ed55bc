"""Store equal weights once.

What it does: Of initializers that have the same element type, shape and bytes, the first is kept
    and read in the place of the others. Where they lie in several subgraphs it moves to the graph
    around all of them. Weights of a size that no others have are not read, and of others no more
    than tells them apart.
Why engines need it: The file, and the memory of engines that keep what the file has, hold tied
    embeddings, unrolled loops and the branches of an If as often as they are used.
Before:
    # a and b: float[64, 64] with the same numbers
    p = MatMul (x, a)
    y = MatMul (p, b)
After:
    p = MatMul (x, a)
    y = MatMul (p, a)
When it refuses: It leaves alone what a caller may override, what is an input or an output, sparse
    ones and texts, and what takes less than `least` bytes. Where an engine does not take a tensor
    that several nodes read, the run is made without it.
Accuracy: Exact: the bytes are the same.
References: https://github.com/inisis/OnnxSlim/issues/28;
    https://onnx.ai/onnx/repo-docs/IR.html#initializers
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from graphfix.authoring import (
    LAST,
    Constant,
    Editor,
    Function,
    Graph,
    NodeRef,
    Option,
    graph_pass,
)
from graphfix.ir.storage.equal_weights import equal_sets
from graphfix.ir.storage.weights import LEAST_SHARED


@graph_pass(
    stage=LAST,
    options={"least": Option(int, LEAST_SHARED, "smaller weights stay, in bytes")},
    looks_at=["weights:alike"],
)
def equal_weights_once(editor: Editor) -> None:
    """Look at all scopes of the main graph together; functions have no initializers."""
    least = int(editor.option("least"))
    scopes = [graph for graph in editor.graphs() if not isinstance(graph.root, Function)]
    owners = {id(kept): graph for graph in scopes for kept in graph.initializers}
    found = [one for graph in scopes for one in _free(graph) if one.weights.nbytes >= least]
    names = Counter[str]()
    for equal in equal_sets((one, one.weights) for one in found):
        homes = {id(owners[id(one)]) for one in equal}
        if len(homes) > 1 and not names:
            names.update(_written(scopes))
        # What is read around a body may be read in it, and not the other way round.
        first = min(equal, key=lambda one: len(_around(owners[id(one)])))
        if len(homes) > 1:
            _bring_out(editor, first, [owners[id(one)] for one in equal], owners, names)
        for other in equal:
            if other is not first:
                _read_instead(editor, first, other, owners[id(other)])


def _free(graph: Graph) -> Iterator[Constant]:
    """Yield the initializers that no caller sees."""
    fixed = {id(tensor) for tensor in graph.inputs}
    named = set[str]()
    if graph.proto is not None:
        named = {entry.tensor_name for entry in graph.proto.quantization_annotation}
    for one in graph.initializers:
        seen = one.overridable or one.output_count or id(one) in fixed or one.name in named
        if not seen and one.outputs:
            yield one


def _written(scopes: Sequence[Graph]) -> Iterator[str]:
    """Yield the name of each tensor of some graphs, once for each tensor."""
    for graph in scopes:
        tensors = {id(tensor): tensor for tensor in (*graph.inputs, *graph.initializers)}
        tensors |= {id(tensor): tensor for node in graph.nodes for tensor in node.outputs}
        yield from (tensor.name for tensor in tensors.values())


def _around(graph: Graph) -> list[Graph]:
    """Return the graphs around a graph and the graph itself, the outermost first."""
    found = [graph]
    while found[0].parent is not None:
        found.insert(0, found[0].parent.graph)
    return found


def _bring_out(
    editor: Editor,
    first: Constant,
    readers: Sequence[Graph],
    owners: dict[int, Graph],
    names: Counter[str],
) -> None:
    """Let a constant be one of the graph around all readers, by a name that none of them hides."""
    shared = [levels[0] for levels in zip(*map(_around, readers), strict=False) if _alike(levels)]
    home, old = shared[-1], owners[id(first)]
    if names[first.name] > 1:
        first.name = editor.workspace.tensor_name(first.name)
    if old is not home:
        _drop(old, first)
        home.initializers = [*home.initializers, first]
        owners[id(first)] = home


def _alike(levels: Sequence[Graph]) -> bool:
    return all(level is levels[0] for level in levels)


def _read_instead(editor: Editor, first: Constant, other: Constant, graph: Graph) -> None:
    """Let all nodes that read one constant read the first."""
    for node in list(other.outputs):
        for place, tensor in enumerate(node.inputs):
            if tensor is other:
                node.replace_input(place, first)
    other.outputs = []
    _drop(graph, other)
    where = NodeRef(outputs=(other.name,), scope=graph.scope)
    editor.record_number(where, f"{other.name} holds what {first.name} holds, which is read")


def _drop(graph: Graph, stored: Constant) -> None:
    graph.initializers = [kept for kept in graph.initializers if kept is not stored]
