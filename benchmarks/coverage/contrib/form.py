"""A form of an operator as a file: one node, its constants, and what it is run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

from benchmarks.coverage.contrib.registered import DOMAIN

OPSET = 13
IR = 7
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Const:
    """An operand that is a constant of the file."""

    array: Array


@dataclass(frozen=True)
class Form:
    """One operator in one form.

    Attributes:
        operator: Its name.
        name: What is particular about the form.
        inputs: Operands in their order: an array is an input of the model, a `Const` a constant,
            None is left out.
        outputs: Element types of the outputs; None for one that is left out.
        attributes: Attributes of the node.
        free: Axes that are open, of all inputs but those of rank 1, or of one: (input, axis).
        domain: Its domain.
        runs: Whether anything says what it computes; else nothing is to replace it.
        same_as: A form that computes the same, where onnxruntime's kernel for CPUs has it and not
            this one.
    """

    operator: str
    name: str
    inputs: Sequence[Any]
    outputs: Sequence[type[Any] | None] = (np.float32,)
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    free: Sequence[int | tuple[int, int]] = ()
    domain: str = DOMAIN
    runs: bool = True
    same_as: Form | None = None

    def feed(self) -> dict[str, Array]:
        """Return the inputs of the model."""
        return {f"x{at}": x for at, x in enumerate(self.inputs) if isinstance(x, np.ndarray)}

    def model(self) -> ModelProto:
        """Return the file."""
        names, constants = list[str](), list[TensorProto]()
        for at, operand in enumerate(self.inputs):
            names.append("" if operand is None else f"x{at}")
            if isinstance(operand, Const):
                constants.append(numpy_helper.from_array(operand.array, f"x{at}"))
        results = ["" if kind is None else f"y{at}" for at, kind in enumerate(self.outputs)]
        node = helper.make_node(
            self.operator, names, results, "node", domain=self.domain, **self.attributes
        )
        graph = helper.make_graph(
            [node],
            "cell",
            [
                helper.make_tensor_value_info(
                    name, _kind(array.dtype), self._dims(int(name[1:]), array)
                )
                for name, array in self.feed().items()
            ],
            [
                helper.make_tensor_value_info(name, _kind(np.dtype(kind)), None)
                for name, kind in zip(results, self.outputs, strict=True)
                if kind is not None
            ],
            constants,
        )
        imports = [helper.make_opsetid("", OPSET)]
        if self.domain:
            imports.append(helper.make_opsetid(self.domain, 1))
        return helper.make_model(graph, opset_imports=imports, ir_version=IR)

    def _dims(self, place: int, array: Array) -> list[int | str]:
        def is_free(axis: int) -> bool:
            return (array.ndim > 1 and axis in self.free) or (place, axis) in self.free

        return [f"N{size}" if is_free(at) else size for at, size in enumerate(array.shape)]


def _kind(dtype: np.dtype[Any]) -> int:
    return int(onnx.helper.np_dtype_to_tensor_dtype(dtype))


def rng(seed: int = 0) -> np.random.Generator:
    """Return a source of numbers that is the same at each run."""
    return np.random.default_rng(seed)


def real(*shape: int, seed: int = 0, dtype: type[np.generic] = np.float32) -> Array:
    """Return normal numbers."""
    return rng(seed).standard_normal(shape).astype(dtype)


def whole(low: int, high: int, *shape: int, seed: int = 0, dtype: Any = np.int64) -> Array:
    """Return integers from `low` up to below `high`."""
    return rng(seed).integers(low, high, shape).astype(dtype)


def const(array: Any, dtype: Any = None) -> Const:
    """Return a constant of the file."""
    return Const(np.asarray(array, dtype))
