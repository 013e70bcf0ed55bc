"""Export a network of Paddle by paddle2onnx: paddle_models.py NAME ROW FOLDER.

ROW is JSON: `cls` (below paddle.vision.models) with `kwargs` and `shape`, or neither for a network
of this module, and `opset`.
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("paddle",)


def built(name: str, paddle: Any) -> tuple[Any, list[Any]]:
    """Return a small network and what it takes."""
    nn, spec = paddle.nn, paddle.static.InputSpec
    if name == "recognition":  # of text: convolutions, then an LSTM along the width
        parts = [nn.Conv2D(3, 8, 3, 2, 1), nn.Hardswish(), nn.Conv2D(8, 16, 3, (16, 1), 1)]

        class Recognition(nn.Layer):  # type: ignore[misc,name-defined]  # of no known type
            def __init__(self) -> None:
                nn.Layer.__init__(self)
                self.convolutions = nn.Sequential(*parts)
                self.lstm = nn.LSTM(16, 8, direction="bidirect")
                self.last = nn.Linear(16, 12)

            def forward(self, x: Any) -> Any:
                y = self.convolutions(x).squeeze(2).transpose([0, 2, 1])
                return nn.functional.softmax(self.last(self.lstm(y)[0]), axis=2)

        return Recognition(), [spec([1, 3, 32, 48], "float32", "image")]
    if name == "detection":  # of text: a map of probabilities
        last = [nn.Conv2DTranspose(8, 8, 2, 2), nn.BatchNorm2D(8), nn.ReLU()]
        last += [nn.Conv2DTranspose(8, 1, 2, 2), nn.Sigmoid()]
        first = [nn.Conv2D(3, 8, 3, 2, 1), nn.Swish(), nn.Conv2D(8, 8, 3, 2, 1), nn.Hardsigmoid()]
        return nn.Sequential(*first, *last), [spec([None, 3, None, None], "float32", "image")]
    if name == "encoder":
        layer = nn.TransformerEncoderLayer(16, 2, 32)
        return nn.TransformerEncoder(layer, 2), [spec([1, 10, 16], "float32", "src")]
    parts = [nn.Linear(12, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4), nn.LogSoftmax()]
    return nn.Sequential(*parts), [spec([None, 12], "float32", "x")]


def main() -> None:
    """Export what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    paddle: Any = import_module("paddle")
    paddle.seed(0)
    if "cls" in row:
        model = getattr(import_module("paddle.vision.models"), row["cls"])(**row.get("kwargs", {}))
        inputs = [paddle.static.InputSpec(row.get("shape", [1, 3, 64, 64]), "float32", "x")]
    else:
        model, inputs = built(name, paddle)
    model.eval()
    out, opset = f"{folder}/{name}", row.get("opset", 14)
    paddle.onnx.export(model, out, input_spec=inputs, opset_version=opset)


if __name__ == "__main__":
    main()
