"""The `trtexec` line that builds an engine from the file that was written."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.engines.interface import Input, NextStep, Written
from graphfix.engines.profile import Target
from graphfix.ir.printing import shell_line

_EXPLICIT_BATCH_MAJOR = 7
_PROGRAMS = {"trt": "trtexec", "trt-rtx": "tensorrt_rtx"}


def next_step(written: Written, target: Target) -> NextStep:
    """Return how to build an engine from a file; see `trtexec_line`."""
    inputs, used = written.contents()
    libraries = ("<your-plugins.so>",) if written.assumes_operators else ()
    imported = {op for op, known in target.ops.items() if known.supported}
    shipped = sorted(used & target.plugins - imported)
    line = trtexec_line(written.path, inputs, target, libraries, shipped)
    sizes = "Put the smallest, the usual and the largest size for each <name>."
    return NextStep(line, "Build the engine", sizes if open_shapes(inputs) else "")


def trtexec_line(
    path: str,
    inputs: Sequence[Input],
    target: Target,
    plugins: Sequence[str] = (),
    shipped: Sequence[str] = (),
) -> str:
    """Return a shell line for `trtexec`, which is called `tensorrt_rtx` in TensorRT for RTX.

    Sizes that the model leaves open are as ``<name>`` in the three shape options: the smallest,
    the usual and the largest size that the engine shall take are the user's to choose.

    Sources: samples/common/sampleOptions.cpp of NVIDIA/TensorRT. `--explicitBatch` is needed where
    the default was an implicit batch though the parser takes only an explicit one (6.0 with full
    dimensions, 7.x) and deprecated from 8.0; `--plugins` is deprecated for `--staticPlugins` in
    8.6.

    Args:
        path: The .onnx file.
        inputs: Names and shapes; an open dimension is its name, or None.
        target: The version of TensorRT.
        plugins: Libraries with the user's own operators.
        shipped: Operators that NVIDIA's own plugin library has; a comment names them, for whoever
            builds the engine without `trtexec`, which loads that library.
    """
    words = [_PROGRAMS[target.family], f"--onnx={path}"]
    if target.level[0] == _EXPLICIT_BATCH_MAJOR or target.variant:
        words.append("--explicitBatch")
    if shapes := open_shapes(inputs):
        words += [f"--{which}Shapes={shapes}" for which in ("min", "opt", "max")]
    option = "--staticPlugins" if target.level >= (8, 6) else "--plugins"
    words += [f"{option}={library}" for library in plugins]
    line = shell_line(words)
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
