"""A stand-in for tensorrt_rtx_bindings: speaks as it does, and an engine of it doubles its input.

It refuses models with NonZero in the parser and those with NonMaxSuppression in the builder.
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx

__version__ = "1.7.1.116"
ComputeCapability = SimpleNamespace(SM86="sm86", SM89="sm89")
TensorIOMode = SimpleNamespace(INPUT=0, OUTPUT=1)
asked: list[tuple[Any, ...]] = []


def _ask(*given: Any) -> None:
    asked.append(given)


class ILogger:
    Severity = SimpleNamespace(ERROR=1)

    def __init__(self) -> None:
        pass


def nptype(dtype: Any) -> Any:
    return dtype


class Builder:
    def __init__(self, log: Any) -> None:
        self.log = log

    def create_network(self, flags: int) -> Any:
        return SimpleNamespace(num_inputs=0, model=None, get_input=None)

    def create_builder_config(self) -> Any:
        return SimpleNamespace(set_compute_capability=_ask, add_optimization_profile=_ask)

    def create_optimization_profile(self) -> Any:
        return SimpleNamespace(set_shape=_ask, set_shape_input=_ask)

    def build_serialized_network(self, network: Any, config: Any) -> bytes | None:
        if "NonMaxSuppression" in network.ops:
            self.log.log(1, "n0 has no runners that implement it")
            self.log.log(1, "catchCudaError: there is no driver")
            return None
        return b"plan"


class OnnxParser:
    def __init__(self, network: Any, log: Any) -> None:
        self.network, self.num_errors = network, 0

    def parse_from_file(self, path: str) -> bool:
        model = onnx.load(path)  # pyright: ignore[reportUnknownMemberType]
        self.network.ops = [node.op_type for node in model.graph.node]
        inputs = [
            SimpleNamespace(
                name=info.name,
                is_shape_tensor=info.name.startswith("sizes"),
                shape=[dim.dim_value or -1 for dim in info.type.tensor_type.shape.dim],
            )
            for info in model.graph.input
        ]
        self.network.num_inputs, self.network.get_input = len(inputs), inputs.__getitem__
        self.num_errors = int("NonZero" in self.network.ops)
        return not self.num_errors

    def get_error(self, place: int) -> Any:
        return SimpleNamespace(
            node_name=lambda: "n0", node_operator=lambda: "NonZero", desc=lambda: "no\nplugin"
        )


class Runtime:
    def __init__(self, log: Any) -> None:
        pass

    def deserialize_cuda_engine(self, plan: bytes) -> Any:
        names = ["x", "y"]
        return SimpleNamespace(
            num_io_tensors=2,
            get_tensor_name=names.__getitem__,
            get_tensor_mode=names.index,
            get_tensor_dtype={"x": np.float32, "y": np.float32}.__getitem__,
            is_shape_inference_io={"x": False}.__getitem__,
            create_execution_context=_Context,
        )


class _Context:
    def __init__(self) -> None:
        self.shape: tuple[int, ...] = ()
        self.at: dict[str, int] = {}

    def set_input_shape(self, name: str, shape: tuple[int, ...]) -> bool:
        self.shape = shape
        return True

    def get_tensor_shape(self, name: str) -> tuple[int, ...]:
        return self.shape

    def set_tensor_address(self, name: str, address: int) -> None:
        self.at[name] = address

    def execute_async_v3(self, stream: int) -> bool:
        count = int(np.prod(self.shape))
        given = (ctypes.c_float * count).from_address(self.at["x"])
        result = (ctypes.c_float * count).from_address(self.at["y"])
        result[:] = [2 * number for number in given]
        return True


def _succeed(*_: Any) -> int:
    return 0


class Driver:
    """NVIDIA's driver of a GPU of a compute capability, with the memory of the process."""

    def __init__(self, capability: tuple[int, int]) -> None:
        self.capability: dict[int, int] = dict(zip((75, 76), capability, strict=True))
        self.buffers: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return _succeed  # cuInit, cuDeviceGet, contexts

    def cuDeviceGetAttribute(self, number: Any, attribute: int, device: Any) -> int:  # noqa: N802
        number._obj.value = self.capability[attribute]
        return 0

    def cuMemAlloc_v2(self, place: Any, size: Any) -> int:  # noqa: N802
        buffer = ctypes.create_string_buffer(size.value)
        place._obj.value = ctypes.addressof(buffer)
        self.buffers[place._obj.value] = buffer
        return 0

    def cuMemFree_v2(self, place: Any) -> int:  # noqa: N802
        del self.buffers[place.value]
        return 0

    def cuMemcpyHtoD_v2(self, place: Any, source: Any, size: Any) -> int:  # noqa: N802
        ctypes.memmove(place.value, source.value, size.value)
        return 0

    def cuMemcpyDtoH_v2(self, target: Any, place: Any, size: Any) -> int:  # noqa: N802
        ctypes.memmove(target.value, place.value, size.value)
        return 0
