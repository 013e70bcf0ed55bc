"""Replace convolutions that torch.onnx leaves as ATen nodes by Conv and ConvTranspose.

What it does: Writes convolution, _convolution and _convolution_mode, in one to three axes, forward
    or transposed, with one entry for all axes or one for each. "same" pads half of what a window is
    larger than a pixel in front, the other half after.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, PyTorch's newer exporter does not translate all of them, and no engine has an
    importer for them.
Before: y = org.pytorch.aten.ATen <operator = "convolution"> (x, w, b, [2], [1], [1], False, [0], 1)
After: y = Conv <strides = [2], pads = [1, 1]> (x, w, b)
When it refuses: An argument is computed at run time, the rank or the type of the input or the
    weights is unknown, the types are integers, one element is padded with itself (same) and the
    sizes of the windows are open, or the opset is below 11.
Accuracy: Exact up to rounding and the order of sums.
References: pytorch/pytorch aten/src/ATen/native/Convolution.cpp (_convolution, convolution_same);
    https://onnx.ai/onnx/operators/onnx__Conv.html, onnx__ConvTranspose.html
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, Refuse, Value, need_type

from ._arguments import ArrayCall, Call
from ._axes import FLOATS
from ._family import Family, Function, ranked

_MOST_AXES = 3


class _Geometry:
    """How windows lie along each axis."""

    def __init__(self, call: Call | ArrayCall, kernel: Sequence[int | None]) -> None:
        """Read a call.

        Args:
            call: The call.
            kernel: The sizes of the windows; None where open.

        Raises:
            Refuse: An argument does not fit.
        """
        count = len(kernel)
        self.strides = _each(call, "stride", count)
        self.dilations = _each(call, "dilation", count)
        self.groups = int(call.number("groups", 1))
        self.transposed = "transposed" in call.schema and bool(call.number("transposed", 0))
        self.further = [0] * count
        if self.transposed:
            self.further = _each(call, "output_padding", count)
        else:
            call.irrelevant("output_padding")  # PyTorch does not look at it either
        if "_mode" in call_name(call):
            given = call.text("padding", "") if isinstance(call, Call) else _text(call, "padding")
            self.pads = self._named(given, kernel)
        else:
            self.pads = _each(call, "padding", count) * 2

    def _named(self, given: str, kernel: Sequence[int | None]) -> list[int]:
        if given == "valid":
            return [0] * (2 * len(kernel))
        sizes = [size for size in kernel if size is not None]
        if given != "same" or len(sizes) < len(kernel) or set(self.strides) != {1}:
            raise Refuse(
                "the padding must be valid, or same with windows of known sizes that go one by "
                f"one; it is {given}"
            )
        whole = [d * (size - 1) for d, size in zip(self.dilations, sizes, strict=True)]
        return [*(n // 2 for n in whole), *(n - n // 2 for n in whole)]


def call_name(call: Call | ArrayCall) -> str:
    """Return what tells the layouts of arguments apart."""
    return "plain" if "transposed" in call.schema else "_mode"


def _text(call: ArrayCall, name: str) -> str:
    given = call.array(name)
    return "" if given is None else str(given)


def _each(call: Call | ArrayCall, name: str, count: int) -> list[int]:
    found = [int(entry) for entry in call.entries(name) or () if entry is not None]
    found = found * count if len(found) == 1 else found
    if len(found) != count:
        raise Refuse(f"{name} must have an entry for each of {count} axes; it has {len(found)}")
    return found


def _write(build: Builder, call: Call) -> Value:
    x, rank = ranked(call, "input")
    weight, own = ranked(call, "weight", 3)
    bias, axes = call.tensor("bias"), own - 2
    need_type(x, FLOATS)
    if weight.elem_type != x.elem_type or axes > _MOST_AXES or rank != own:
        raise Refuse(
            f"{weight.name} must have the type and the rank of {x.name}, which is 3 to "
            f"{_MOST_AXES + 2}; it is {weight.type_name} of rank {own}"
        )
    how = _Geometry(call, [weight.dim(axis) for axis in range(2, own)])
    attributes: dict[str, Any] = {
        "strides": how.strides, "dilations": how.dilations, "group": how.groups, "pads": how.pads,
    }  # fmt: skip
    if not how.transposed:
        return build.Conv(x, weight, bias, **attributes)
    if any(how.further):
        attributes["output_padding"] = how.further
    return build.ConvTranspose(x, weight, bias, **attributes)


def _model(call: ArrayCall) -> Any:
    x, weight, bias = call.need("input"), call.need("weight"), call.array("bias")
    how = _Geometry(call, weight.shape[2:])
    grouped = np.split(x.astype(np.float64), how.groups, axis=1)
    parts = np.split(weight.astype(np.float64), how.groups, axis=0)
    compute = _spread if how.transposed else _gathered
    found = np.concatenate(
        [compute(a, b, how) for a, b in zip(grouped, parts, strict=True)], axis=1
    )
    if bias is not None:
        found = found + bias.reshape(-1, *[1] * (weight.ndim - 2))
    return found.astype(x.dtype)


def _gathered(x: Array, weight: Array, how: _Geometry) -> Array:
    """Add up what each element of the windows reads."""
    axes = weight.ndim - 2
    pairs = [(how.pads[a], how.pads[axes + a]) for a in range(axes)]
    x = np.pad(x, [(0, 0), (0, 0), *pairs])
    counts = [
        (x.shape[2 + a] - how.dilations[a] * (weight.shape[2 + a] - 1) - 1) // how.strides[a] + 1
        for a in range(axes)
    ]
    found = np.zeros((x.shape[0], weight.shape[0], *counts))
    for at in itertools.product(*(range(n) for n in weight.shape[2:])):
        cuts = [
            slice(d * k, d * k + s * (n - 1) + 1, s)
            for k, d, s, n in zip(at, how.dilations, how.strides, counts, strict=True)
        ]
        every: Any = (slice(None), slice(None), *at)
        read: Any = (slice(None), slice(None), *cuts)
        found += np.einsum("oc,nc...->no...", weight[every], x[read])
    return found


def _spread(x: Array, weight: Array, how: _Geometry) -> Array:
    """Add each element to all that its window writes to."""
    axes = weight.ndim - 2
    sizes = [
        (x.shape[2 + a] - 1) * how.strides[a]
        + how.dilations[a] * (weight.shape[2 + a] - 1) + 1 + how.further[a]
        for a in range(axes)
    ]  # fmt: skip
    found = np.zeros((x.shape[0], weight.shape[1], *sizes))
    for at in itertools.product(*(range(n) for n in weight.shape[2:])):
        cuts = [
            slice(d * k, d * k + s * (n - 1) + 1, s)
            for k, d, s, n in zip(at, how.dilations, how.strides, x.shape[2:], strict=True)
        ]
        every: Any = (slice(None), slice(None), *at)
        written: Any = (slice(None), slice(None), *cuts)
        found[written] += np.einsum("co,nc...->no...", weight[every], x)
    kept: Any = (
        ..., *(slice(how.pads[a], sizes[a] - how.pads[axes + a]) for a in range(axes)),
    )  # fmt: skip
    return np.asarray(found[kept])


_PLAIN = (
    "input", "weight", "bias", "stride", "padding", "dilation", "transposed", "output_padding",
    "groups",
)  # fmt: skip
_FLAGS = ("benchmark", "deterministic", "cudnn_enabled")
FAMILY = Family({
    "convolution": Function(_PLAIN, _write, _model),
    "convolution_overrideable": Function(_PLAIN, _write, _model),
    "_convolution": Function((*_PLAIN, *_FLAGS, "allow_tf32"), _write, _model),
    "_convolution.deprecated": Function((*_PLAIN, *_FLAGS), _write, _model),
    "_convolution_mode": Function(
        ("input", "weight", "bias", "stride", "padding", "dilation", "groups"),
        _write, _model,
    ),
})  # fmt: skip


aten_convolution = FAMILY.replaced(
    __name__,
    emits="Conv ConvTranspose",
    opset=11,
)
