"""torch.onnx, by either of its exporters; the modules next to this one say of what.

ROW of them all may hold `way` (script or dynamo), `opset`, `free` (axes that are free, by name of
the input) and `half`.
"""

from importlib import import_module
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
            shapes = [
                {a: torch.export.Dim(s) for a, s in free.get(n, {}).items()} for n in names[0]
            ]
            given["dynamic_shapes"] = tuple(shapes)
    else:
        given |= {"dynamo": False, "opset_version": row.get("opset", 17)}
        if free:
            given["dynamic_axes"] = free
    with torch.no_grad():
        torch.onnx.export(model, args, out, **given)
