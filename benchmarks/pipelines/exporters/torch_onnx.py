"""torch.onnx, by either of its exporters; the modules next to this one say of what.

ROW of them all may hold `way` (script or dynamo), `opset`, `free` (axes that are free, by name of
the input) and `half`.
"""

from collections.abc import Iterable
from importlib import import_module
from inspect import Parameter, signature
from typing import Any


def export(
    model: Any,
    args: tuple[Any, ...],
    out: str,
    row: dict[str, Any],
    names: tuple[list[str], list[str]],
) -> None:
    """Export a module to a file.

    Args:
        model: A module; it is put into evaluation.
        args: What it is called with.
        out: The file.
        row: See above.
        names: Of inputs and outputs.
    """
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # an operator that no exporter knows
    model = model.eval()
    if row.get("half"):
        model = model.half()
        args = tuple(one.half() if one.dtype == torch.float32 else one for one in args)
    free = {k: {int(a): s for a, s in v.items()} for k, v in row.get("free", {}).items()}
    given: dict[str, Any] = {"input_names": names[0], "output_names": names[1]}
    if row.get("way", "script") == "dynamo":
        given |= {"dynamo": True, "external_data": False, "opset_version": row.get("opset", 18)}
        if free:
            axes = [free.get(name, {}) for name in names[0]]
            auto = torch.export.Dim.AUTO
            shapes: Any = tuple(dict.fromkeys(one, auto) for one in axes)
            # A module that takes `*args` has one argument, of all inputs.
            kinds = {one.kind for one in signature(model.forward).parameters.values()}
            given["dynamic_shapes"] = (shapes,) if Parameter.VAR_POSITIONAL in kinds else shapes
            # A size of 1 is never free.
            args = tuple(_doubled(x, one) for x, one in zip(args, axes, strict=True))
    else:
        given |= {"dynamo": False, "opset_version": row.get("opset", 17)}
        if free:
            given["dynamic_axes"] = free
    with torch.no_grad():
        torch.onnx.export(model, args, out, **given)


def _doubled(one: Any, axes: Iterable[int]) -> Any:
    free = [axis for axis in axes if one.shape[axis] == 1]
    return one.repeat([2 if axis in free else 1 for axis in range(one.dim())]) if free else one
