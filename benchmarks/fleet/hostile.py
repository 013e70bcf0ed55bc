"""Twenty files that crash, hang or want all memory, to be laid among ordinary models."""

from __future__ import annotations

from pathlib import Path

from onnx import parser

from benchmarks.fuzz.bombs import bombs

# What a file of this name is worked on by is ended by a signal from outside, as a fault of native
# code ends a process: the command itself, or the child in which it works.
CRASHES, CRASHES_INSIDE = "crash-outer", "crash-inner"
_CRASHES = 3
_BOMBS = (
    *("trip-count", "fed-loop", "fed-mod-loop"),  # hang
    *("hann-window", "range", "eye-like", "outer-product", "matmul", "fed-expand"),  # memory
    *("fed-top-k", "fed-conv", "concat-doubling", "functions-doubling", "nested-bytes-9000"),
)
_ORDINARY = """
<ir_version: 8, opset_import: ["" : 17]>
g (int64[N] x) => (int64[N] y) <int64 c = {%d}> { y = Mod (x, c) }
"""
COUNT = 2 * _CRASHES + len(_BOMBS)


def lay_out(folder: Path) -> list[Path]:
    """Write the files into a folder that is made, and return where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {f"bomb-{name}": bombs()[name]() for name in _BOMBS}
    for number, name in enumerate((CRASHES, CRASHES_INSIDE) * _CRASHES):
        model = parser.parse_model(_ORDINARY % (number + 3))
        made[f"{name}-{number}"] = model.SerializeToString()
    for name, raw in made.items():
        (folder / f"{name}.onnx").write_bytes(raw)
    return [folder / f"{name}.onnx" for name in made]
