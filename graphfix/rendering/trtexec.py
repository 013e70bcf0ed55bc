"""The `trtexec` line that builds an engine from the file that was written."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

Input = tuple[str, tuple[int | str | None, ...]]

_VERSION = re.compile(r"^trt(\d+)(?:\.(\d+))?(-fulldims)?$")


def trtexec_line(
    path: str,
    inputs: Sequence[Input],
    target: str,
    plugins: Sequence[str] = (),
    shipped: Sequence[str] = (),
) -> str:
    """Return a shell line for `trtexec`, or an empty text for a target that is not TensorRT.

    Sizes that the model leaves open stand as ``<name>`` in the three shape options: the smallest,
    the usual and the largest size that the engine shall take are the user's to choose.

    Sources: samples/common/sampleOptions.cpp of NVIDIA/TensorRT. `--explicitBatch` is needed where
    the default was an implicit batch though the parser takes only an explicit one (6.0 with full
    dimensions, 7.x) and deprecated from 8.0; `--plugins` is deprecated for `--staticPlugins` in
    8.6.

    Args:
        path: The .onnx file.
        inputs: Names and shapes; an open dimension is its name, or None.
        target: The profile, such as ``trt8.6``.
        plugins: Libraries with the user's own operators.
        shipped: Operators that NVIDIA's own plugin library has; a comment names them, for whoever
            builds the engine without `trtexec`, which loads that library.
    """
    version = _VERSION.match(target)
    if version is None:
        return ""
    major, minor = int(version[1]), int(version[2] or 0)
    words = ["trtexec", f"--onnx={path}"]
    if major == 7 or version[3]:
        words.append("--explicitBatch")
    if shapes := open_shapes(inputs):
        words += [f"--{which}Shapes={shapes}" for which in ("min", "opt", "max")]
    option = "--staticPlugins" if (major, minor) >= (8, 6) else "--plugins"
    words += [f"{option}={library}" for library in plugins]
    line = " ".join(shlex.quote(word) for word in words)
    if shipped:
        line += f"  # with {', '.join(shipped)} of libnvinfer_plugin, which trtexec loads"
    return line


def open_shapes(inputs: Sequence[Input]) -> str:
    """Return ``x:<batch>x3x224x224,y:...`` for the inputs with open dimensions; empty if none."""
    return ",".join(
        f"{name}:{'x'.join(_dim(dim, i) for i, dim in enumerate(shape))}"
        for name, shape in inputs
        if any(not isinstance(dim, int) for dim in shape)
    )


def _dim(dim: int | str | None, position: int) -> str:
    """Return a size, or the name of the gap to fill."""
    return str(dim) if isinstance(dim, int) else f"<{dim or f'dim{position}'}>"
