"""Export small modules with both exporters of PyTorch; runs in an interpreter that has PyTorch.

    PYTHON export.py FOLDER

Imports nothing of graphfix. Prints a line for each module: its file, or why there is none.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

torch: Any = import_module("torch")
nn: Any = torch.nn


def module_of(forward: Callable[..., Any], **parts: Any) -> Any:
    """Return a module with the given parts: parameters, other modules, and plain values."""
    module = type("Written", (nn.Module,), {"forward": forward})()
    for name, part in parts.items():
        setattr(module, name, part)
    return module


def weights(*shape: int) -> Any:
    """Return a parameter."""
    return nn.Parameter(torch.rand(shape))


def normalized(self: Any, x: Any) -> Any:
    """Normalize over axes, as authors write it."""
    away = x - x.mean(self.axes, keepdim=True)
    wide = (away * away).mean(self.axes, keepdim=True) + 1e-5
    y = away * torch.rsqrt(wide) if self.root else away / torch.sqrt(wide)
    return y * self.scale + self.bias


def by_root(self: Any, x: Any) -> Any:
    """Normalize by the root of the mean of the squares, as language models have it."""
    return self.scale * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def attention(self: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    """Attend by PyTorch's own function, or as authors write it."""
    if not self.by_hand:
        return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return torch.softmax(q @ k.transpose(-1, -2) / 2.0 + mask, -1) @ v


def convolved(self: Any, x: Any) -> Any:
    """Convolve, with what is next to it."""
    y = self.conv(nn.functional.pad(x, (1, 1, 2, 2)) if self.pads else x)
    y = y if self.bias is None else y + self.bias
    return y if self.norm is None else self.norm(y)


def convolution(*, pads: bool = False, bias: bool = False, norm: bool = False) -> Any:
    """Return a module with a convolution."""
    after = nn.BatchNorm2d(4) if norm else None
    if after is not None:
        after.running_var = torch.rand(4) + 0.5
    added = weights(1, 4, 1, 1) if bias else None
    conv = nn.Conv2d(4, 4, 3, bias=norm)
    return module_of(convolved, conv=conv, pads=pads, bias=added, norm=after)


def layer(axes: tuple[int, ...], shape: tuple[int, ...], *, root: bool) -> Any:
    """Return a normalization that is written by hand."""
    scale, bias = weights(*shape), weights(*shape)
    return module_of(normalized, axes=axes, root=root, scale=scale, bias=bias)


def affine(self: Any, x: Any) -> Any:
    """Multiply matrices and add a row."""
    return x @ self.weights + self.bias


def twice(self: Any, x: Any) -> Any:
    """Compute the same thing twice."""
    del self
    return torch.exp(x) * torch.sin(torch.exp(x))


torch.manual_seed(0)
ROWS, IMAGE = torch.randn(2, 5, 8), torch.randn(2, 4, 9, 9)
HEADS = (*(torch.randn(2, 2, 5, 4) for _ in range(3)), torch.randn(2, 1, 5, 5))
MODULES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "gelu-fusion": (nn.GELU(), (ROWS,)),
    "gelu-tanh-fusion": (nn.GELU("tanh"), (ROWS,)),
    "swish-fusion": (nn.SiLU(), (ROWS,)),
    "hardswish-fusion": (nn.Hardswish(), (ROWS,)),
    "mish-fusion": (nn.Mish(), (ROWS,)),
    "layer-normalization-fusion": (nn.LayerNorm(8), (ROWS,)),
    "layer-normalization-fusion by-hand": (layer((-1,), (8,), root=False), (ROWS,)),
    "rms-normalization-fusion": (module_of(by_root, scale=weights(8)), (ROWS,)),
    "instance-normalization-fusion": (layer((2, 3), (1, 4, 1, 1), root=True), (IMAGE,)),
    "group-normalization-fusion": (nn.GroupNorm(2, 4), (IMAGE,)),
    "attention-fusion": (module_of(attention, by_hand=False), HEADS),
    "attention-fusion by-hand": (module_of(attention, by_hand=True), HEADS),
    "batch-normalization-folding": (convolution(norm=True), (IMAGE,)),
    "conv-bias-fusion": (convolution(bias=True), (IMAGE,)),
    "conv-padding-fusion": (convolution(pads=True), (IMAGE,)),
    "gemm-fusion": (
        module_of(affine, weights=weights(8, 6), bias=weights(6)),
        (torch.randn(3, 8),),
    ),
    "common-subexpressions": (module_of(twice), (ROWS,)),
}


def export(name: str, folder: Path, dynamo: bool) -> str:
    """Export one module; return the name of its file, or what the exporter said."""
    module, inputs = MODULES[name]
    options: dict[str, Any] = {"dynamo": dynamo, "opset_version": 18 if dynamo else 17}
    if dynamo:
        # Its optimizer folds the normalization itself; it is kept as the model has it.
        options.update(verbose=False, optimize=name != "batch-normalization-folding")
    elif name.startswith(("layer-normalization-fusion", "hardswish")):
        options["opset_version"] = 13
    elif name == "batch-normalization-folding":  # else the exporter folds it itself
        options.update(training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    path = folder / f"{name.replace(' ', '_')}_{'newer' if dynamo else 'older'}.onnx"
    try:
        torch.onnx.export(module.eval(), inputs, str(path), **options)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:90]}"
    return path.name


def main() -> None:
    """Export every module with both."""
    warnings.simplefilter("ignore")
    print(f"PyTorch {torch.__version__.partition('+')[0]}", flush=True)
    for name in MODULES:
        for dynamo in (False, True):
            file = export(name, Path(sys.argv[1]), dynamo)
            print(f"{name}\t{'newer' if dynamo else 'older'}\t{file}", flush=True)


if __name__ == "__main__":
    main()
