"""Convert, fuse, optimize or simplify a file with a public tool.

    rewrite.py OPTIONS SOURCE OUT

OPTIONS is JSON: `by` names a function of this module, the rest are its arguments.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

PRELOADED = (
    "onnx",
    "onnxruntime",
)

onnx: Any = import_module("onnx")


def float16(source: str, out: str, module: str, keep: bool) -> None:
    """Convert to float16 by a module that has `convert_float_to_float16`."""
    converter: Any = import_module(module)
    model = converter.convert_float_to_float16(onnx.load(source), keep_io_types=keep)
    onnx.save(model, out)


def float16_in_part(source: str, out: str, blocked: list[str]) -> None:
    """Convert to float16 but for some operators, as people do where it overflows."""
    converter: Any = import_module("onnxruntime.transformers.float16")
    every = [*converter.DEFAULT_OP_BLOCK_LIST, *blocked]
    model = onnx.load(source)
    onnx.save(converter.convert_float_to_float16(model, op_block_list=every), out)


def bfloat16(source: str, out: str) -> None:
    """Write weights as bfloat16, with a Cast to float32 after each, as storage formats do."""
    model = onnx.load(source)
    kept: list[Any] = []
    casts: list[Any] = []
    for one in model.graph.initializer:
        if one.data_type == onnx.TensorProto.FLOAT and len(one.dims) > 1:
            ml_dtypes: Any = import_module("ml_dtypes")
            array = onnx.numpy_helper.to_array(one).astype(ml_dtypes.bfloat16)
            kept.append(onnx.numpy_helper.from_array(array, f"{one.name}_bf16"))
            casts.append(onnx.helper.make_node("Cast", [f"{one.name}_bf16"], [one.name], to=1))
        else:
            kept.append(one)
    if not casts:
        raise ValueError("no weight of more than one axis")
    nodes = [*casts, *model.graph.node]
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(kept)
    model.graph.node.extend(nodes)
    onnx.save(model, out)


def fused(source: str, out: str, kinds: dict[str, str], level: int = 0, half: bool = False) -> None:
    """Fuse by onnxruntime.transformers, for the kind that the name tells."""
    optimizer: Any = import_module("onnxruntime.transformers.optimizer")
    stem = Path(source).stem
    kind = next((kinds[k] for k in sorted(kinds, key=len, reverse=True) if k in stem), "bert")
    model = optimizer.optimize_model(source, model_type=kind, opt_level=level)
    if half:
        model.convert_float_to_float16(keep_io_types=True)
    model.save_model_to_file(out)


def optimized(source: str, out: str, level: str) -> None:
    """Write the file as onnxruntime optimizes it on loading."""
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    options.optimized_model_filepath = out
    options.log_severity_level = 4
    ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def onnxsim(source: str, out: str) -> None:
    """Simplify."""
    model, _ = import_module("onnxsim").simplify(source)
    onnx.save(model, out)


def onnxslim(source: str, out: str) -> None:
    """Slim."""
    onnx.save(import_module("onnxslim").slim(source), out)


def optimizer(source: str, out: str, passes: list[str]) -> None:
    """Run passes of onnxoptimizer, or its usual ones."""
    found: Any = import_module("onnxoptimizer")
    names = passes or found.get_fuse_and_elimination_passes()
    onnx.save(found.optimize(onnx.load(source), names), out)


def sanitized(source: str, out: str) -> None:
    """Fold constants and clean up by `polygraphy surgeon sanitize`."""
    words = ["surgeon", "sanitize", source, "-o", out, "--fold-constants", "--cleanup"]
    if import_module("polygraphy.tools").main(words):
        raise ValueError("polygraphy failed")


def opset(source: str, out: str, version: int) -> None:
    """Convert to another opset by onnx.version_converter."""
    converter: Any = import_module("onnx.version_converter")
    onnx.save(converter.convert_version(onnx.load(source), version), out)


def optimizer_passes(source: str, out: str) -> None:
    """Optimize by onnxscript's rewriter, as the exporter of PyTorch does."""
    script: Any = import_module("onnxscript")
    ir: Any = import_module("onnx_ir")
    model = ir.load(source)
    ir.save(script.optimizer.optimize(model) or model, out)


def main() -> None:
    """Do what the command line says."""
    given = json.loads(sys.argv[1])
    globals()[given.pop("by")](sys.argv[2], sys.argv[3], **given)


if __name__ == "__main__":
    main()
