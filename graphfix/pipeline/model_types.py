"""Types of a whole model, operators without schema included, and the numpy models of these.

Whoever frees the size of an input by hand leaves what an exporter declared of the tensors inside.
onnxruntime runs every size all the same. Such a number is no knowledge: what is declared of the
inputs decides, and what follows from it by ONNX's own inference. Passes bring the numpy models of
operators without schema along.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property

from onnx import GraphProto

from graphfix.analysis.inference import form_at, infer_model, infer_node, infer_proto
from graphfix.analysis.learned_sizes import learn_sizes
from graphfix.authoring.building import written_types
from graphfix.authoring.declared_types import leave_undeclared
from graphfix.authoring.declaring import Evaluate, Infer, InferredType, Pass
from graphfix.authoring.features import operator_feature
from graphfix.authoring.registry import Catalogue
from graphfix.authoring.workspace import Workspace
from graphfix.errors import GraphfixError, PassBug
from graphfix.ir.graph import Constant, Node, Shape, Tensor, Variable, shape_of_type
from graphfix.ir.model import Model
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import Form, first_opset, form_of
from graphfix.ir.views import NodeView, Refuse


def evaluators_for(model: Model, passes: tuple[Pass, ...]) -> dict[tuple[str, str], str]:
    """Return, for each operator without schema in the model, where its numpy model is.

    Those that a pass may emit are there too.

    The key of an operator that is named by an attribute (ATen) is ``ATen.linalg_inv``.
    """
    knowing = [p for p in passes if p.evaluate is not None]
    knowing.sort(key=lambda declared: declared.last_resort)
    places: dict[tuple[str, str], str] = {}
    anywhere: dict[str, str] = {}
    for declared, emitted, known in ((p, *item) for p in passes for item in p.knows.items()):
        if known.evaluate is None:
            continue
        domain, _, name = emitted.rpartition("::")
        places[domain, name] = anywhere[name] = place_of(known.evaluate, declared)
    for node in model.nodes():
        domain = normal_domain(node.domain)
        if form_at(node) is not None:
            continue
        operator = node.attrs.get("operator")
        named = node.op == "ATen" and isinstance(operator, str)
        op = f"{node.op}.{operator}" if named else node.op
        if (domain, op) in places:
            continue
        if op in anywhere:
            places[domain, op] = anywhere[op]
            continue
        view = NodeView(node)
        for declared in knowing:
            evaluate = declared.evaluate
            if evaluate is not None and declared.matches_node(view) and _knows(declared, view):
                places[(domain, op)] = place_of(evaluate, declared)
                break
    return places


def _knows(declared: Pass, view: NodeView) -> bool:
    """Say whether a pass that matches the node's operator also knows what the node calls."""
    operator = view.node.attrs.get("operator")
    feature = operator_feature(view.op, view.domain, operator if isinstance(operator, str) else "")
    return declared.removes_feature(feature)


def place_of(function: Evaluate, declared: Pass) -> str:
    """Return where another process finds the numpy model of a pass: its file or module, and name.

    What is the method of an object is found by the object's name in the file of the pass.
    """
    owner: object = getattr(function, "__self__", None)
    home = sys.modules.get(declared.function.__module__)
    names = vars(home) if home is not None and inspect.ismethod(function) else {}
    name = next((f"{name}." for name, value in names.items() if value is owner), "")
    origin = declared.function if name else function
    module = origin.__module__
    source = module if module.startswith("graphfix.passes.") else origin.__code__.co_filename
    return f"{source}:{name}{function.__name__}"


MAX_ROUNDS = 64
_MADE_UP = re.compile(r"unk__\d+")  # onnx/shape_inference/implementation.h, SymbolTableImpl


def infer_types(model: Model, passes: Sequence[Pass]) -> None:
    """Infer every type; where ONNX knows none, ask the pass that knows the operator.

    An operator that is below the opset that brought it, which engines that go by names read, is
    taken for what it was there. A round follows what is known of one operator without schema to the
    next, as far as no values are to be known for it.

    Raises:
        PassBug: The `infer` of a pass raised.
    """
    infer_model(model)
    for _ in range(MAX_ROUNDS):
        if not _learn_sizes(model):
            break
        infer_model(model)
    asking = _Asking(model, Catalogue.of(passes))
    everywhere = False
    for _ in range(MAX_ROUNDS):
        if asking.walk(everywhere=everywhere):
            everywhere = False
            infer_model(model)
            while _learn_sizes(model):
                infer_model(model)
        elif everywhere:
            return
        else:
            everywhere = True  # also where not all is known that a node reads


def _learn_sizes(model: Model) -> bool:
    """Take ranks and sizes that ONNX's own inference leaves open; say whether there are any."""
    news = False
    for node in model.nodes():
        news = learn_sizes(node) or news
    return news


def _is_open(node: Node) -> bool:
    """Say whether ONNX infers no types of a node: its operator is unknown, gone, or not looked at.

    Half of ai.onnx.ml has schemas that tell of no output what it is.
    """
    form = form_at(node)
    if form is None or form.schema.deprecated:
        return True
    return bool(node.domain) and any(
        isinstance(t, Variable) and t.name and not t.elem_type and t.opaque is None
        for t in node.outputs
    )


def _as_first_written(node: Node) -> bool:
    """Infer an operator that is below its first opset as of that one; say whether it was news.

    Exporters write it so where the engine at hand goes by names: Einsum in opset 11.
    """
    form = _first_form(node)
    if form is None:
        return False
    before = [(t.elem_type, t.shape) for t in node.outputs]
    infer_node(node, form=form)
    return before != [(t.elem_type, t.shape) for t in node.outputs]


def _first_form(node: Node) -> Form | None:
    if normal_domain(node.domain) or form_at(node) is not None:
        return None
    since = first_opset(node.op)
    return form_of(node.op, since) if since > node.graph.opsets.get("", 1) else None


class _Asking:
    """Asks passes for the types of nodes; what a pass writes for one is looked at once.

    It is written again where more is known of what the node reads since.
    """

    def __init__(self, model: Model, catalogue: Catalogue) -> None:
        """Ask for nodes of a model."""
        self._model, self._catalogue = model, catalogue
        self._knowing = {id(n): catalogue.knowing_of(n.op) for n in model.nodes() if _is_open(n)}
        self._written: dict[tuple[int, str], list[object]] = {}

    @cached_property
    def _workspace(self) -> Workspace:
        return Workspace(self._model, passes=self._catalogue)

    def walk(self, *, everywhere: bool) -> bool:
        """Ask about each node, in order; say whether there was news.

        Args:
            everywhere: Whether also where a type or a rank is not known that the node reads.
        """
        news = False
        for node in self._model.nodes() if self._knowing else ():
            knowing = self._knowing.get(id(node))
            if knowing is None:
                if news:
                    _follow(node)
            elif everywhere or all(map(_is_known, node.inputs)):
                news = self._ask_all(knowing, node) or news
        return news

    def _ask_all(self, knowing: Sequence[tuple[Pass, Infer | None]], node: Node) -> bool:
        if not any(t.name and (not t.elem_type or t.shape is None) for t in node.outputs):
            return False
        known = False
        for declared, given in knowing:  # all of them, not up to a yes
            if not (known and declared.last_resort):
                known = self._ask(declared, given, node) or known
        return known or _as_first_written(node)

    def _ask(self, declared: Pass, given: Infer | None, node: Node) -> bool:
        """Ask a pass; `given` is for an operator that it emits, not matches; say if it was news.

        Raises:
            PassBug: The `infer` of the pass raised.
        """
        view = NodeView(node)
        matched = given is None and declared.matches_node(view, any_opset=True)
        infer = declared.infer if matched else given
        try:
            types = None if infer is None else infer(view)
            if types is None and matched and self._is_to_be_written(declared, node):
                types = written_types(declared, view, self._workspace)
        except Refuse:
            return False
        except GraphfixError:
            raise
        except Exception as error:
            raise PassBug(
                f"infer of {declared.id} raised {type(error).__name__}: {error}",
                pass_id=declared.id,
            ) from error
        return _take(node, types or ())

    def _is_to_be_written(self, declared: Pass, node: Node) -> bool:
        if not declared.derives_types or _first_form(node) is not None:
            return False
        if not any(_is_wanted(tensor) for tensor in node.outputs):
            return False
        known: list[object] = [
            one for tensor in _reached(node) for one in (tensor.elem_type, tensor.shape)
        ]
        key = (id(node), declared.id)
        before, self._written[key] = self._written.get(key), known
        return before != known


def _is_known(tensor: Tensor) -> bool:
    known = bool(tensor.elem_type) and tensor.shape is not None
    return known or not tensor.name or tensor.opaque is not None


def _follow(node: Node) -> None:
    """Infer a node of which all is known that it reads, where that tells its outputs whole.

    Otherwise it is left to the inference of the whole model, which knows computed sizes, too.
    """
    if all(map(_is_known, node.outputs)) or not all(map(_is_known, node.inputs)):
        return
    if any(True for _ in node.graphs()):
        return
    outputs = [tensor for tensor in node.outputs if isinstance(tensor, Variable)]
    before = [(tensor.elem_type, tensor.shape) for tensor in outputs]
    infer_node(node)
    if not all(_is_known(tensor) and None not in (tensor.shape or ()) for tensor in outputs):
        for tensor, (elem_type, shape) in zip(outputs, before, strict=True):
            tensor.elem_type, tensor.shape = elem_type, shape


def _is_wanted(tensor: Tensor) -> bool:
    """Say whether something reads a tensor whose type or rank is not known."""
    unknown = not tensor.elem_type or tensor.shape is None
    return unknown and bool(tensor.outputs or tensor.output_count)


def _reached(node: Node) -> Iterator[Tensor]:
    """Yield what a node reads, and what the entries of its lists are."""
    for tensor in node.inputs:
        yield tensor
        for producer in tensor.inputs:
            yield from producer.inputs


def _take(node: Node, types: Sequence[InferredType | None]) -> bool:
    news = False
    for tensor, known in zip(node.outputs, types, strict=False):
        if known is None or not isinstance(tensor, Variable):
            continue
        if known.elem_type and not tensor.elem_type:
            tensor.elem_type = known.elem_type
            news = True
        if tensor.shape is None and known.shape is not None:
            tensor.shape = known.shape
            news = True
    return news


def drop_outdated(model: Model) -> bool:
    """Drop what is declared of tensors of the main graph in numbers where a size is free.

    Returns:
        Whether there was any.
    """
    graph = model.graph
    if graph.proto is None or not graph.proto.value_info:
        return False
    free = {
        size
        for tensor in graph.inputs
        if not isinstance(tensor, Constant)
        for size in tensor.shape or ()
        if isinstance(size, str)
    }
    declared = {tensor.name: tensor for tensor in _declared(model)} if free else {}
    if not declared:
        return False
    proto = model.light_proto()
    _forget(proto.graph, frozenset(declared))
    found = {i.name: shape_of_type(i.type)[1] for i in infer_proto(proto).graph.value_info}
    dropped = False
    for name, tensor in declared.items():
        shape = found.get(name)
        if shape is not None and _is_left(tensor.shape, shape, free):
            leave_undeclared(graph, tensor)
            tensor.shape = shape
            dropped = True
    return dropped


def resolve_made_up(model: Model) -> bool:
    """Say by other names what a file calls by names that ONNX's inference made up.

    Quantizers and converters save what inference found when they ran, with a new name for each size
    that it did not know then. More may follow by now: that a name is a size of the inputs, a
    number, or the same as another. The declarations stay as they are.

    Returns:
        Whether there was any.
    """
    named = [
        tensor
        for node in model.graph.nodes
        for tensor in node.outputs
        if isinstance(tensor, Variable) and any(map(_is_made_up, tensor.shape or ()))
    ]
    named = [tensor for tensor in named if not tensor.output_count]
    if not named:
        return False
    sizes = _meant(model, [tensor for tensor in named if not _is_of_a_domain(tensor)])
    news = False
    for tensor in named:
        shape = tuple(
            sizes.get(size, size) if isinstance(size, str) else size for size in tensor.shape or ()
        )
        if shape != tensor.shape:
            tensor.shape = shape
            news = True
    return news


def _meant(model: Model, tensors: Sequence[Variable]) -> dict[str, int | str]:
    """Return what names that were made up mean; of names for one size, the first is kept.

    Names that would be two numbers, or two sizes of the inputs, keep their meaning: a declaration
    is wrong there.
    """
    proto = model.light_proto()
    _forget(proto.graph, frozenset(tensor.name for tensor in tensors))
    found = {i.name: shape_of_type(i.type)[1] for i in infer_proto(proto).graph.value_info}
    own = {size for tensor in model.graph.inputs for size in tensor.shape or ()}

    def is_made_up(size: object) -> bool:
        return _is_made_up(size) and size not in own  # whatever an input calls its sizes is a name

    same: dict[object, object] = {}  # of each, another one that is the same size

    def one_of(size: object) -> object:
        while same.get(size, size) != size:
            size = same[size] = same.get(same[size], same[size])
        return size

    for tensor in tensors:
        shape, declared = found.get(tensor.name), tensor.shape
        if shape is None or declared is None or len(shape) != len(declared):
            continue
        for old, new in zip(declared, shape, strict=True):
            if is_made_up(old) and new is not None:
                # Inference numbers its names from 0 again: they are not those of the file.
                one, other = one_of(("new", new) if is_made_up(new) else new), one_of(old)
                same[one], same[other] = one, one
    names: dict[object, list[str]] = {}
    known: dict[object, list[int | str]] = {}
    for size in same:
        if isinstance(size, str) and is_made_up(size):
            names.setdefault(one_of(size), []).append(size)
        elif isinstance(size, int | str):
            known.setdefault(one_of(size), []).append(size)
    return {
        name: (known.get(one) or alike)[0]
        for one, alike in names.items()
        for name in alike
        if len(known.get(one, ())) < 2
    }


def _is_made_up(size: object) -> bool:
    return isinstance(size, str) and _MADE_UP.fullmatch(size) is not None


def _is_of_a_domain(tensor: Variable) -> bool:
    """Say whether what a tensor is like is known from its declaration alone."""
    return any(node.domain for node in tensor.inputs)


def _declared(model: Model) -> Iterator[Variable]:
    """Yield the tensors between nodes of ONNX's own that are declared with a number."""
    for node in model.graph.nodes:
        for tensor in () if node.domain else node.outputs:
            if isinstance(tensor, Variable) and tensor.info is not None and not tensor.output_count:
                shape = shape_of_type(tensor.info.type)[1]
                if shape is not None and any(isinstance(size, int) for size in shape):
                    yield tensor


def _forget(graph: GraphProto, names: frozenset[str]) -> None:
    kept = [info for info in graph.value_info if info.name not in names]
    del graph.value_info[:]
    graph.value_info.extend(kept)


def _is_left(declared: Shape | None, shape: Shape, free: set[str]) -> bool:
    return (
        declared is not None
        and len(declared) == len(shape)
        and any(isinstance(a, int) and b in free for a, b in zip(declared, shape, strict=True))
    )
