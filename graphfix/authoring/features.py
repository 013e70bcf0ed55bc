"""The one vocabulary in which rules and passes meet, and which ATen operator a node calls.

A feature names, without naming an engine, what a node does or needs. Its kind is before the
colon; a rule says of a node that it shows a feature, a pass says which features it removes. Of a
node that calls an ATen operator, what it gives for the arguments is found here, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graphfix.errors import PassBug
from graphfix.ir.schemas import AttributeRef
from graphfix.ir.storage.weights import load_array
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.operators.arguments.aten_table import (
    CALLING,
    Arguments,
    Given,
    Overload,
    Unfit,
    given_array,
    given_attribute,
    overloads_of,
    resolved,
)

KINDS: dict[str, str] = {
    "op": "the operator itself, `op:Mod`, `op:org.pytorch.aten::ATen.linalg_inv`",
    "const": "an input must be a constant, `const:Resize.scales`",
    "dtype": "an element type, `dtype:uint8`, or one on an operator, `dtype:Pow.int32`",
    "form": "a form of an operator that an older schema lacks, `form:ReduceMean.axes-input`",
    "attr": "an attribute value, `attr:Resize.mode=cubic`",
    "rank": "a rank or a shape restriction, `rank:GridSample.5`",
    "shape": "shape arithmetic, `shape:Reshape.rank2`",
    "scope": "where a node is, `scope:local-function`",
    "opset": "the opset number of the model, `opset:too-high`",
    "ir": "the IR version, `ir:too-high`",
    "domain": "an opset import or a foreign domain, `domain:missing-import`",
    "model": "a complaint of the ONNX checker, `model:unsorted`",
    "io": "the interface of the model, `io:uint8-input`",
    "asked": "a node of which the engine itself said no, `asked:Resize`",
}

_FORM = re.compile(r"^([a-z]+):\S+$")


def feature(text: str) -> str:
    """Return `text` when it is a well-formed feature.

    Raises:
        PassBug: The kind before the colon is not in `KINDS`, or nothing follows it.
    """
    match = _FORM.match(text)
    if match is None or match.group(1) not in KINDS:
        raise PassBug(f"{text!r} is not a feature: it needs one of {', '.join(KINDS)} and a colon")
    return text


_TORCH_DOMAINS = frozenset(
    {
        "aten",
        "com.microsoft.pytorch",
        "org.pytorch",
        "org.pytorch.aten",
        "pytorch",
        "torch.ops.aten",
    }
)


def is_aten(op: str, domain: str) -> bool:
    """Say whether a node calls an operator of PyTorch's ATen library, in any exporter's layout.

    The layouts: ``org.pytorch.aten::ATen`` and ``com.microsoft``'s or default-domain ``ATen`` with
    an ``operator`` attribute, and ``org.pytorch.aten::<name>`` or ``aten::<name>`` without one.
    """
    return op == "ATen" or domain in _TORCH_DOMAINS


def operator_feature(op: str, domain: str = "", operator: str = "") -> str:
    """Return the feature of an operator.

    Args:
        op: The operator.
        domain: Its domain.
        operator: The ``operator`` attribute of an ATen node; empty where there is none.

    Returns:
        ``op:Mod``, ``op:com.microsoft::Inverse``, and for ATen in every layout
        ``op:aten::linalg_inv``.
    """
    if is_aten(op, domain):
        name = operator or op
        return f"op:aten::{name.removeprefix('aten::').partition('.')[0]}"
    return f"op:{domain}::{op}" if domain not in ("", "ai.onnx") else f"op:{op}"


def operator_key(op: str) -> tuple[str, str]:
    """Return domain and operator of ``Op`` or ``domain::Op``."""
    domain, _, name = op.rpartition("::")
    return ("" if domain == "ai.onnx" else domain, name)


_LISTS = frozenset({"SequenceConstruct", "ListConstruct", "TupleConstruct"})


def operator_of(node: NodeView) -> tuple[str, str]:
    """Return (operator, overload) of an ATen call in any layout; "" where none is named."""
    operator, overload = named_by(node)
    return operator, overload or ""


def named_by(node: NodeView) -> tuple[str, str | None]:
    """Return (operator, overload); None where the file names none, "" for the default one."""
    attributes = node.node.attrs
    texts = {name: attributes[name] for name in CALLING if name in attributes}
    named = {"operator": node.op, **{n: v for n, v in texts.items() if isinstance(v, str)}}
    return named_among(named if named["operator"] else {**named, "operator": node.op})


def is_none(value: Value) -> bool:
    """Say whether a value is TorchScript's None: a Constant or Optional that holds nothing."""
    producer = value.producer
    if producer is None or producer.op not in ("Constant", "Optional"):
        return False
    written = set(producer.attributes) - {"type", "onnx_name"}
    return not written and not any(v is not None for v in producer.inputs)


def overloads_called(node: NodeView) -> tuple[Overload, ...]:
    """Return the overload that a node calls, as a tuple of one.

    It is empty where the table of PyTorch's schemas does not know the operator or the overload.

    Raises:
        Refuse: No overload takes what the node gives, or several do.
    """
    operator, overload = named_by(node)
    try:
        return resolved(operator, overload, arguments_of(node))
    except Unfit as reason:
        raise Refuse(f"{reason}") from None


def arguments_of(node: NodeView) -> Arguments:
    """Return what a node gives; nothing is loaded but small attributes."""
    attributes: dict[str, Given] = {}
    for name in node.attributes:
        value = node.node.attrs[name]
        if name in CALLING:
            continue
        if isinstance(value, AttributeRef):
            raise Refuse(f"attribute {name!r} is given by the caller of the function")
        if type(value).__name__ in ("TensorProto", "SparseTensorProto"):
            value = load_array(value, node.graph.root.base_dir)
        attributes[name] = given_attribute(value)
    plain = NodeView(node.node)  # looking at what is there is no reading of it
    inputs = tuple(None if v is None or is_none(v) else given_value(v) for v in plain.inputs)
    used = (at for at, value in enumerate(node.outputs, 1) if value is not None and value.is_used)
    return Arguments(attributes, inputs, len(node.node.outputs), max(used, default=0))


def given_value(value: Value) -> Given:
    """Return what a value of the graph is."""
    producer = value.producer
    if value.tensor.opaque is not None or not value.is_tensor:
        return Given("l")
    if producer is not None and producer.op in _LISTS:
        # A list of numbers is one of tensors without axes.
        return Given("", 1) if _of_numbers(producer) else Given("l")
    if producer is not None and producer.op == "Constant":
        text = producer.node.attrs.get("value")
        if isinstance(text, str) or producer.has("value_string"):
            return Given("s", 0)
    dtype = value.dtype
    if value.type_name == "string":
        return Given("s", 0)
    kind = "" if dtype is None else {"u": "i", "V": "f"}.get(dtype.kind, dtype.kind)
    return Given(kind, value.rank)


def _of_numbers(producer: NodeView) -> bool:
    entries = [entry for entry in producer.inputs if entry is not None and not is_none(entry)]
    return bool(entries) and all(e.rank == 0 or (e.rank == 1 and e.dim(0) == 1) for e in entries)


def overload_chosen(
    operator: str, named: str, overloads: Sequence[Overload], schemas: Mapping[str, Sequence[str]]
) -> tuple[str, tuple[str, ...]]:
    """Return the overload that is called and the names of its arguments, in its order.

    Tensors bear the name that the pass has for them.

    Args:
        operator: The operator.
        named: The overload that the file names; empty for none.
        overloads: What `overloads_called` says, or `overloads_of_arrays`.
        schemas: What a pass has by operator, or by ``operator.overload`` where they differ: names
            of arguments.

    Raises:
        Refuse: The pass has none of them, or one with other arguments.
    """
    overload = overloads[0].name if overloads else named
    keys = (f"{operator}.{overload}", operator)
    key = next((one for one in keys if one in schemas), None)
    if key is None:
        raise Refuse(f"the operator must be one of this pass; it is {operator}")
    if not overloads:
        if named and key == operator and overloads_of(operator):
            raise Refuse(f"overload {named!r} of {operator} must be one of PyTorch's; it is not")
        return overload, tuple(schemas[key])
    return overload, _as_named(overloads[0], schemas[key])


def _as_named(overload: Overload, own: Sequence[str]) -> tuple[str, ...]:
    """Return the names of an overload's arguments; tensors as a pass names them."""
    found = list(overload.names)
    for at, name in enumerate(own):
        if name in found or at >= len(found):
            continue
        if overload.arguments[at].is_tensor and found[at] not in own:
            found[at] = name
    return tuple(found)


def named_in(attributes: Mapping[str, Any]) -> tuple[str, str]:
    """Return (operator, overload) that the attributes of a call name; empty for none."""
    operator, overload = named_among(attributes)
    return operator, overload or ""


def named_among(attributes: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return (operator, overload); None where no overload is named, "" for the default one."""
    text = str(attributes.get("operator", "")).removeprefix("aten::")
    operator, _, after = text.partition(".")
    overload: str | None = after or None
    for name in ("overload_name", "overload"):
        if name in attributes and (attributes[name] or overload is None):
            overload = str(attributes[name])
    return operator, "" if overload == "default" else overload


def overloads_of_arrays(
    inputs: Sequence[Any], attributes: Mapping[str, Any]
) -> tuple[Overload, ...]:
    """Return the overload that takes arrays and attributes; none where the table has none.

    Attributes name the operator, and the overload where the file does.

    Raises:
        Refuse: No overload takes them, or several do.
    """
    operator, overload = named_among(attributes)
    named = {n: given_attribute(v) for n, v in attributes.items() if n not in CALLING}
    try:
        return resolved(operator, overload, Arguments(named, tuple(map(given_array, inputs))))
    except Unfit as reason:
        raise Refuse(f"{reason}") from None
