"""Every argument that a node gives is read by whoever replaces it, or changes nothing.

A repair that does not look at an attribute or an input computes what the operator is without it.
So the node that a rewrite is handed notes what is read of it, on the way that this call took. What
is left unread and is not at its default is a reason to refuse, not to continue.

To read an attribute is to ask for its value: that it is there (`has`) says nothing of it. To read
an input is to use the value in any way, in what is built or for its constant, type or shape; that
it is not None says nothing of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto
from onnx.numpy_helper import to_array

from graphfix.authoring.features import is_aten, is_none, operator_of, overloads_called
from graphfix.ir.graph import Graph, Node, Tensor, is_empty
from graphfix.ir.schemas import Form, default_of, form_of, newest_opset
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.operators.arguments.aten_table import CALLING, placed
from graphfix.operators.arguments.neutral import (
    ContribForm,
    contrib_form,
    equal,
    finds_plugin,
    is_harmless_in,
    is_neutral,
)

_CONTRIB = "com.microsoft"


class ReadValue(Value):
    """An input that notes when it is used."""

    __slots__ = ("_held", "_index", "_used")

    def __init__(self, tensor: Tensor, index: int, used: set[int]) -> None:
        """Look at `tensor`, input `index` of a node."""
        self._held, self._index, self._used = tensor, index, used

    @property
    def tensor(self) -> Tensor:  # type: ignore[override]
        """The tensor."""
        self._used.add(self._index)
        return self._held


class AccountedNode(NodeView):
    """A node that notes what is read of it.

    Attributes:
        read: The attributes whose values were asked for.
        used: The places of the inputs that were used.
    """

    __slots__ = ("read", "used")

    def __init__(self, node: Node) -> None:
        """Look at `node`, of which nothing is read yet."""
        super().__init__(node)
        self.read: set[str] = set()
        self.used: set[int] = set()

    def attr(self, name: str, default: Any = None) -> Any:
        """Return an attribute, and note that it was read."""
        self.read.add(name)
        return super().attr(name, default)

    @property
    def inputs(self) -> tuple[Value | None, ...]:
        """The inputs, each of which notes when it is used."""
        return tuple(self.input(at) for at in range(len(self.node.inputs)))

    def written(self) -> dict[str, Any]:
        """Return all attributes as they are, and note that they were read."""
        self.read.update(self.attributes)
        return super().written()

    def waive(self, attributes: Sequence[str] = (), inputs: Sequence[int] = ()) -> None:
        """Note that arguments change nothing here."""
        self.read.update(attributes)
        self.used.update(inputs)

    def input(self, index: int) -> Value | None:
        """Return an input that notes when it is used."""
        inputs = self.node.inputs
        if index >= len(inputs) or is_empty(inputs[index]):
            return None
        return ReadValue(inputs[index], index, self.used)


def is_foreign(node: NodeView) -> bool:
    """Say whether a node calls an operator that ONNX itself does not have."""
    subject = node.node
    if subject.domain:
        return True
    return form_of(subject.op, subject.graph.opsets.get("", 0) or 1, "") is None


def accounted(node: NodeView) -> NodeView:
    """Return a view of a foreign node that notes what is read of it; of another one as it is."""
    if isinstance(node, AccountedNode) or not is_foreign(node):
        return node
    return AccountedNode(node.node)


def check_replaced(
    node: NodeView, drafted: Iterable[Node], results: Iterable[Value | None]
) -> None:
    """Hold an edit to the arguments of the foreign node that it replaces.

    What is in its place may hold on to an argument instead of reading it: an input that it
    reads, an attribute that a node of the same operator has unchanged.

    Args:
        node: The node as it was looked at; one that notes nothing counts as not read.
        drafted: What is to be in its place, nodes of subgraphs included.
        results: What stands for its outputs.

    Raises:
        Refuse: An argument is neither read, nor kept, nor at its default.
    """
    if not is_foreign(node):
        return
    held = node if isinstance(node, AccountedNode) else AccountedNode(node.node)
    inputs, attributes = node.node.inputs, node.node.attrs
    reading = {id(value.tensor) for value in results if value is not None}
    for made in drafted:
        reading.update(id(tensor) for tensor in made.inputs)
        if (made.op, made.domain or "") == (node.op, node.node.domain or ""):
            both = [name for name in attributes if name in made.attrs]
            held.read.update(n for n in both if _is_same(made.attrs[n], attributes[n]))
            pairs = enumerate(zip(inputs, made.inputs, strict=False))
            held.used.update(at for at, (old, new) in pairs if old is new)
    times = Counter(id(tensor) for tensor in inputs)
    # Of a tensor that is given twice it is not known which of them is read.
    held.used.update(
        at for at, t in enumerate(inputs) if id(t) in reading and times[id(t)] == 1
    )  # fmt: skip
    check_read(held)


def _is_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, TensorProto) and isinstance(other, TensorProto):
        return _content(one) == _content(other)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False  # what is kept as it is bears the same object
    return type(one) is type(other) and bool(one == other)


def _content(tensor: TensorProto) -> tuple[object, ...]:
    """Return what a tensor of an attribute holds; its name and form are not part of that."""
    texts = tensor.data_type == TensorProto.STRING
    held = tuple(tensor.string_data) if texts else to_array(tensor).tobytes()
    return tensor.data_type, tuple(tensor.dims), held


def check_read(node: AccountedNode) -> None:
    """Hold a repair to the arguments of the node that it was handed.

    Raises:
        Refuse: It read an attribute or an input neither itself nor is that at its default.
    """
    found = next(_unread(node), None)
    if found is not None:
        raise Refuse(f"{found} of {_called(node)} is not one that this repair reads")


def _called(node: NodeView) -> str:
    if is_aten(node.op, node.domain):
        operator, overload = operator_of(node)
        return f"aten::{operator}" + (f".{overload}" if overload else "")
    return f"{node.domain}::{node.op}" if node.domain else node.op


def _unread(node: AccountedNode) -> Iterator[str]:
    attributes = [
        name
        for name in node.attributes
        if name not in node.read and not isinstance(node.node.attrs[name], Graph)
    ]
    inputs = [
        at for at, tensor in enumerate(node.node.inputs)
        if at not in node.used and not is_empty(tensor)
    ]  # fmt: skip
    form = form_of(node.op, node.opset or 1, "") if not node.domain else None
    if form is not None:
        # ONNX's own operators are run as they are to prove a repair; what they do not have is not.
        attributes = [name for name in attributes if name not in form.attributes]
        inputs = [at for at in inputs if at >= len(form.inputs) and not form.variadic_input]
    if not attributes and not inputs:
        return
    known = _facts_of(node)
    for name in attributes:
        if not known.attribute(name, NodeView(node.node)):
            yield f"attribute {name}"
    for at in inputs:
        value = Value(node.node.inputs[at])
        if not is_none(value) and not known.input(at, value):
            known_name = known.name_of(at)
            yield f"input {at}" + (f" ({known_name})" if known_name else "")


class _Facts:
    """What is known of the arguments of an operator; of one without schema, what is harmless."""

    def __init__(self, node: NodeView) -> None:
        """Look at a node."""
        self._domain, self._op = node.domain, node.op

    def attribute(self, name: str, node: NodeView) -> bool:
        """Say whether an attribute changes nothing."""
        if is_harmless_in(self._domain, self._op, name):
            return True
        return finds_plugin(name, node.node.attrs[name])

    def input(self, index: int, value: Value) -> bool:
        """Say whether an input changes nothing."""
        name = self.name_of(index)
        return bool(name) and is_harmless_in(self._domain, self._op, name)

    def name_of(self, index: int) -> str:
        """Return the name of an input; empty where it is not known."""
        return ""


class _Aten(_Facts):
    def __init__(self, node: NodeView) -> None:
        super().__init__(node)
        found = overloads_called(node)
        self._overload = found[0] if found else None
        self._inputs = placed(found[0], node.attributes) if found else ()

    def attribute(self, name: str, node: NodeView) -> bool:
        if name in CALLING:
            return True
        return self._overload is not None and is_neutral(self._overload, name, node.attr(name))

    def input(self, index: int, value: Value) -> bool:
        name = self.name_of(index)
        if not name or self._overload is None:
            return False
        known = value.array()
        return is_neutral(self._overload, name, _NOT_KNOWN if known is None else known)

    def name_of(self, index: int) -> str:
        return self._inputs[index] if index < len(self._inputs) else ""


_NOT_KNOWN: Any = object()


class _Contrib(_Facts):
    def __init__(self, node: NodeView, form: ContribForm) -> None:
        super().__init__(node)
        self._form = form

    def attribute(self, name: str, node: NodeView) -> bool:
        default = self._form.defaults.get(name)
        at_default = default is not None and equal(node.attr(name), default)
        return at_default or super().attribute(name, node)

    def name_of(self, index: int) -> str:
        return self._form.inputs[index] if index < len(self._form.inputs) else ""


class _Registered(_Facts):
    def __init__(self, node: NodeView, form: Form) -> None:
        super().__init__(node)
        self._form = form

    def attribute(self, name: str, node: NodeView) -> bool:
        default = default_of(self._form, name)
        at_default = default is not None and equal(node.attr(name), default)
        return at_default or super().attribute(name, node)

    def name_of(self, index: int) -> str:
        return self._form.inputs[index] if index < len(self._form.inputs) else ""


def _facts_of(node: NodeView) -> _Facts:
    if is_aten(node.op, node.domain):
        return _Aten(node)
    registered = form_of(node.op, node.opset or 1, node.domain)
    if registered is None and not node.domain:
        # onnxruntime has some operators before the opset that brings them: LayerNormalization.
        registered = form_of(node.op, newest_opset())
    if registered is not None:
        return _Registered(node, registered)
    form = contrib_form(node.op) if node.domain == _CONTRIB else None
    return _Facts(node) if form is None else _Contrib(node, form)
