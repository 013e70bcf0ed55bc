"""Quantize a file with onnxruntime.

    quantize.py OPTIONS SOURCE OUT

OPTIONS is JSON: `mode` is dynamic, static or blocks (4 bits); the rest names arguments.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

PRELOADED = ("onnxruntime.quantization",)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
draws: Any = import_module("draws")
quantization: Any = import_module("onnxruntime.quantization")


class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]  # of no known type
    """Four draws for a file."""

    def __init__(self, source: str) -> None:
        """Find sizes that run."""
        session = draws.session_of(source)
        sizes = draws.running_sizes(session)
        self.rest = draws.feeds(session.get_inputs(), sizes, 4, 1)

    def get_next(self) -> Any:
        """Return the next draw."""
        return next(self.rest, None)


def static(given: dict[str, Any], source: str, out: str) -> None:
    """Quantize weights and activations, after the preparation that its manual asks for."""
    kind = quantization.QuantType
    prepared = str(Path(out).with_name("prepared.onnx"))
    prepare: Any = import_module("onnxruntime.quantization.shape_inference")
    prepare.quant_pre_process(source, prepared, skip_symbolic_shape=True)
    quantization.quantize_static(
        prepared,
        out,
        Reader(prepared),
        quant_format=quantization.QuantFormat[given["format"]],
        activation_type=kind[given["activations"]],
        weight_type=kind[given["weights"]],
        per_channel=given.get("per_channel", False),
        extra_options=given.get("extra", {}),
    )


def blocks(given: dict[str, Any], source: str, out: str) -> None:
    """Quantize the weights of MatMul to 4 bits."""
    onnx: Any = import_module("onnx")
    matmul: Any = import_module("onnxruntime.quantization.matmul_nbits_quantizer")
    model = onnx.load(source)
    common = {"block_size": 16, "accuracy_level": given.get("accuracy_level")}
    form = quantization.QuantFormat[given.get("format", "QOperator")]
    config = None
    if given["algorithm"] == "hqq":
        config = matmul.HQQWeightOnlyQuantConfig(block_size=16, quant_format=form)
    quantizer = matmul.MatMulNBitsQuantizer(
        model,
        is_symmetric=given.get("symmetric", False),
        quant_format=form,
        algo_config=config,
        **common,
    )
    quantizer.process()
    onnx.save(quantizer.model.model, out)


def main() -> None:
    """Do what the command line says."""
    given, source, out = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
    if given["mode"] == "dynamic":
        quantization.quantize_dynamic(
            source,
            out,
            weight_type=quantization.QuantType[given["weights"]],
            per_channel=given.get("per_channel", False),
            reduce_range=given.get("reduce_range", False),
        )
    elif given["mode"] == "static":
        static(given, source, out)
    else:
        blocks(given, source, out)


if __name__ == "__main__":
    main()
