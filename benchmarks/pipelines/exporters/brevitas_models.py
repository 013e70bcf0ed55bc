"""Export a network of quantized layers of Brevitas: brevitas_models.py NAME ROW FOLDER.

ROW is JSON: `form` (qcdq or qonnx), `bits`, `kind` (convolutions or linear).
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("torch", "brevitas.nn", "brevitas.export")


def main() -> None:
    """Export what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    torch: Any = import_module("torch")
    torch.manual_seed(0)
    nn: Any = torch.nn
    layers: Any = import_module("brevitas.nn")
    bits = {"weight_bit_width": row["bits"]}
    if row["kind"] == "linear":
        parts = [
            layers.QuantIdentity(bit_width=8, return_quant_tensor=True),
            layers.QuantLinear(16, 32, bias=True, **bits),
            layers.QuantReLU(bit_width=row.get("activations", 8), return_quant_tensor=True),
            layers.QuantLinear(32, 10, bias=True, **bits),
        ]
        x = torch.randn(2, 16)
    else:
        parts = [
            layers.QuantIdentity(bit_width=8, return_quant_tensor=True),
            layers.QuantConv2d(3, 8, 3, bias=True, **bits),
            nn.BatchNorm2d(8),
            layers.QuantReLU(bit_width=row.get("activations", 8), return_quant_tensor=True),
            layers.QuantConv2d(8, 8, 3, groups=8, bias=False, **bits),
            layers.QuantReLU(bit_width=row.get("activations", 8)),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            layers.QuantLinear(8, 10, bias=True, **bits),
        ]
        x = torch.randn(1, 3, 16, 16)
    model = nn.Sequential(*parts)
    for _ in range(3):  # the scales of activations are learnt from these
        model(x)
    model.eval()
    export: Any = import_module("brevitas.export")
    write = export.export_onnx_qcdq if row["form"] == "qcdq" else export.export_qonnx
    write(model, args=x, export_path=f"{folder}/{name}.onnx", opset_version=13, dynamo=False)


if __name__ == "__main__":
    main()
