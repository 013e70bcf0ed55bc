"""A traced call as a file: one ATen node in the layout of PyTorch's TorchScript exporter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

from benchmarks.coverage.traced import Traced

OPSET = 17
IR = 8
DOMAIN = "org.pytorch.aten"
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Cell:
    """A model, what it is run on, and what PyTorch computes of that.

    Attributes:
        name: ``operator.overload/dtype/number/static`` or ``.../dynamic``.
        model: The model.
        feed: Its inputs.
        expected: PyTorch's results, in the order of the outputs.
    """

    name: str
    model: ModelProto
    feed: dict[str, Array]
    expected: tuple[Array, ...]


@dataclass
class _Graph:
    nodes: list[Any] = field(default_factory=list[Any])
    constants: list[TensorProto] = field(default_factory=list[TensorProto])

    def constant(self, value: Any) -> str:
        """Write a constant as EraseNumberTypes does: int64, float64, bool, or a text."""
        name = f"k{len(self.constants)}"
        array = np.asarray(value, None if np.size(value) else np.int64)
        if array.dtype.kind == "U":
            proto = TensorProto(name=name, data_type=TensorProto.STRING)
            proto.string_data.append(str(value).encode())
        else:
            proto = numpy_helper.from_array(array, name)
        self.constants.append(proto)
        return name

    def argument(self, value: Any) -> str:
        """Return the name of what an argument is."""
        match value:
            case None:
                return ""
            case ("tensor", index):
                return f"x{index}"
            case ("list", entries):
                return self._list([f"x{e}" if e is not None else self._none() for e in entries])
            case ("numbers", entries):
                return self.constant(entries)
            case _:
                return self.constant(value)

    def _list(self, names: Sequence[str]) -> str:
        name = f"l{len(self.nodes)}"
        self.nodes.append(helper.make_node("SequenceConstruct", names, [name]))
        return name

    def _none(self) -> str:
        name = f"none{len(self.nodes)}"
        self.nodes.append(helper.make_node("Constant", [], [name]))
        return name


def cells(call: Traced, number: int) -> Iterator[Cell]:
    """Write a call with fixed and with open sizes.

    Equal sizes bear one name, so that what has to fit still does.
    """
    arrays = [t.numpy() for t in call.tensors]
    expected = tuple(np.ascontiguousarray(t.resolve_neg().numpy()) for t in call.results)
    feed = {f"x{at}": np.ascontiguousarray(a).reshape(a.shape) for at, a in enumerate(arrays)}
    expected = tuple(e.reshape(tuple(t.shape)) for e, t in zip(expected, call.results, strict=True))
    for form in ("static", "dynamic"):
        if form == "dynamic" and not any(a.ndim for a in arrays):
            continue
        name = f"{call.operator}.{call.overload}/{call.dtype}/{number}/{form}"
        yield Cell(name, _model(call, feed, expected, form == "dynamic"), feed, expected)


def _model(
    call: Traced, feed: dict[str, Array], expected: Sequence[Array], dynamic: bool
) -> ModelProto:
    graph = _Graph()
    names = [graph.argument(value) for _, value in call.arguments]
    outputs = [f"y{at}" for at in range(len(expected))]
    graph.nodes.append(
        helper.make_node(
            "ATen",
            names,
            outputs,
            "call",
            domain=DOMAIN,
            operator=call.operator,
            overload_name=call.overload,
        )
    )
    inputs = [
        _info(name, array, [f"N{d}" if dynamic else d for d in array.shape])
        for name, array in feed.items()
    ]
    results = [
        _info(name, array, [None] * array.ndim)
        for name, array in zip(outputs, expected, strict=True)
    ]
    proto = helper.make_graph(graph.nodes, "g", inputs, results, graph.constants)
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(proto, opset_imports=imports, ir_version=IR)


def _info(name: str, array: Array, shape: Sequence[Any]) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, shape)
