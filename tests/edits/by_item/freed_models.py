"""A batch of one made free in a text, and onnxruntime as the judge of it at many sizes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from onnx import ModelProto

from graphfix.edits.by_item.looking import Shown, look
from graphfix.edits.free_sizes import Freed, Freeing
from graphfix.ir.protos import required_inputs
from tests.edits.small_models import HEAD, parsed

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33, 100, 127, 128, 129, 255, 256, 257, 300)


@dataclass(frozen=True)
class Case:
    """A model before and after, and what is shown of it."""

    before: ModelProto
    freed: Freed
    shown: Shown
    size: int

    def wrong_at(self, sizes: tuple[int, ...] = SIZES) -> list[int]:
        """Return the sizes at which onnxruntime stops, or gives other values than item by item."""
        old, new = _session(self.before), _session(self.freed.proto)
        rng = np.random.default_rng(0)
        found: list[int] = []
        for size in sizes:
            if size % self.size:
                continue
            feed = {
                info.name: _drawn(info, size, rng) for info in required_inputs(self.before.graph)
            }
            try:
                got = new.run(None, feed)
            except Exception:  # onnxruntime's own classes say nothing more
                found.append(size)
                continue
            rows = [
                old.run(None, {n: v[at : at + self.size] for n, v in feed.items()})
                for at in range(0, size, self.size)
            ]
            axes = [self.freed.axes[info.name] for info in self.before.graph.output]
            for value, parts, axis in zip(got, zip(*rows, strict=True), axes, strict=True):
                wanted = parts[0] if axis is None else np.concatenate(parts, axis=axis)
                apart = axis is None and any((part != parts[0]).any() for part in parts)
                close = value.shape == wanted.shape and np.allclose(
                    value, wanted, rtol=1e-5, atol=1e-6, equal_nan=True
                )
                if apart or not close:
                    found.append(size)
        return sorted(set(found))


def _drawn(info: Any, size: int, rng: np.random.Generator) -> Any:
    dims = [d.dim_value for d in info.type.tensor_type.shape.dim]
    shape = (size, *dims[1:])
    if info.type.tensor_type.elem_type == 7:
        return rng.integers(0, 3, shape)
    return rng.normal(size=shape).astype(np.float32)


def _session(proto: ModelProto) -> Any:
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(proto.SerializeToString(), options)


def freed(text: str, size: int = 1) -> Case:
    """Make the first size of every input free.

    Raises:
        UsageError: It cannot be followed.
    """
    before = parsed(text if text.lstrip().startswith("<") else HEAD + text)
    axes = {info.name: 0 for info in required_inputs(before.graph)}
    found = Freeing(before, "", axes, size, "--dynamic").freed("N")
    return Case(before, found, look(found, before, "", axes, size), size)
