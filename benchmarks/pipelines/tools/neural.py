"""Quantize a file with onnx-neural-compressor.

    neural.py OPTIONS SOURCE OUT

OPTIONS is JSON: `entry` of its algorithms, `config`, a class, and the arguments of that class.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

PRELOADED = ("onnxruntime", "onnx_neural_compressor.quantization.config")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
draws: Any = import_module("draws")
base: Any = import_module("onnx_neural_compressor.data_reader").CalibrationDataReader
quantization: Any = import_module("onnx_neural_compressor.quantization")


class Reader(base):  # type: ignore[misc]  # of no known type
    """Four draws for a file, as often as they are asked for."""

    def __init__(self, source: str) -> None:
        """Find sizes that run."""
        session = draws.session_of(source)
        sizes = draws.running_sizes(session)
        self.all = list(draws.feeds(session.get_inputs(), sizes, 4, 1))
        self.rest = iter(self.all)

    def get_next(self) -> Any:
        """Return the next draw."""
        return next(self.rest, None)

    def rewind(self) -> None:
        """Begin from the first."""
        self.rest = iter(self.all)


def main() -> None:
    """Do what the command line says."""
    given, source, out = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
    configs: Any = import_module("onnx_neural_compressor.quantization.config")
    entries: Any = import_module("onnx_neural_compressor.quantization.algorithm_entry")
    entry, kind = given.pop("entry"), given.pop("config")
    for name in ("activation_type", "weight_type"):
        if name in given:
            given[name] = quantization.QuantType[given[name]]
    if "quant_format" in given:
        given["quant_format"] = quantization.QuantFormat[given["quant_format"]]
    read = [] if entry in ("rtn_quantize_entry", "dynamic_quantize_entry") else [Reader(source)]
    if kind == "StaticQuantConfig":
        given["calibration_data_reader"] = read[0]
    model = getattr(entries, entry)(source, getattr(configs, kind)(**given), *read)
    import_module("onnx").save(model, out)


if __name__ == "__main__":
    main()
