"""Build a network of Keras and convert it by tf2onnx: keras_models.py NAME ROW FOLDER.

ROW is JSON: `by` (tf2onnx, or `export`, of Keras 3 itself), `opset`, `free` (whether the batch is).
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("tensorflow", "tf2onnx")


def built(name: str, keras: Any, batch: Any) -> Any:
    """Return a small network."""
    layers = keras.layers
    if name.startswith("dense"):
        x = keras.Input((12,), batch_size=batch)
        y = layers.Dense(16, activation="gelu")(x)
        return keras.Model(x, layers.Dense(4, activation="softmax")(layers.Dropout(0.1)(y)))
    if name.startswith("convolutions"):
        x = keras.Input((32, 32, 3), batch_size=batch)
        y = layers.Conv2D(8, 3, 2, padding="same", use_bias=False)(x)
        y = layers.Activation("relu")(layers.BatchNormalization()(y))
        y = layers.DepthwiseConv2D(3, padding="same")(y)
        y = layers.Conv2D(16, 1, activation="swish")(y)
        y = layers.MaxPooling2D(2)(y)
        y = layers.Dense(5)(layers.GlobalAveragePooling2D()(y))
        return keras.Model(x, y)
    if name.startswith("unet"):
        x = keras.Input((16, 16, 3), batch_size=batch)
        one = layers.Conv2D(8, 3, padding="same", activation="relu")(x)
        y = layers.Conv2D(16, 3, padding="same", activation="relu")(layers.MaxPooling2D()(one))
        y = layers.Conv2DTranspose(8, 2, 2, padding="same")(y)
        y = layers.Concatenate()([y, one])
        y = layers.UpSampling2D(2, interpolation="bilinear")(y)
        return keras.Model(x, layers.Conv2D(2, 1, activation="sigmoid")(y))
    if name.startswith("lstm"):
        x = keras.Input((10, 8), batch_size=batch)
        y = layers.Bidirectional(layers.LSTM(8, return_sequences=True))(x)
        return keras.Model(x, layers.Dense(3)(layers.LSTM(6)(y)))
    if name.startswith("gru"):
        x = keras.Input((10, 8), batch_size=batch)
        return keras.Model(x, layers.Dense(3)(layers.GRU(8, reset_after=True)(x)))
    if name.startswith("transformer"):
        x = keras.Input((12,), batch_size=batch, dtype="int32", name="token_ids")
        y = layers.Embedding(50, 16)(x)
        y = layers.LayerNormalization()(y + layers.MultiHeadAttention(2, 8)(y, y))
        y = layers.LayerNormalization()(y + layers.Dense(16)(layers.Dense(32, "relu")(y)))
        return keras.Model(x, layers.Dense(2)(layers.GlobalMaxPooling1D()(y)))
    if name.startswith("separable"):
        x = keras.Input((32, 32, 3), batch_size=batch)
        y = layers.Rescaling(1 / 127.5, offset=-1)(x)
        y = layers.SeparableConv2D(8, 3, padding="same", activation="relu6")(y)
        y = layers.ZeroPadding2D(((0, 1), (0, 1)))(y)
        y = layers.SeparableConv2D(8, 3, 2)(y)
        y = layers.SpatialDropout2D(0.1)(layers.LeakyReLU()(y))
        return keras.Model(x, layers.Dense(4)(layers.Flatten()(layers.AveragePooling2D(5)(y))))
    x = keras.Input((20, 4), batch_size=batch)  # a network over time
    y = layers.Conv1D(8, 3, padding="causal", dilation_rate=2, activation="elu")(x)
    y = layers.GroupNormalization(2)(y)
    return keras.Model(x, layers.Dense(1)(layers.Flatten()(y)))


def main() -> None:
    """Convert what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    tf: Any = import_module("tensorflow")
    tf.keras.utils.set_random_seed(0)
    model = built(name, tf.keras, None if row.get("free") else 1)
    out, opset = f"{folder}/{name}.onnx", row.get("opset", 15)
    if row.get("by") == "export":
        model([tf.zeros([1, *one.shape[1:]], one.dtype) for one in model.inputs])
        model.export(out, format="onnx", verbose=False)
        return
    tf2onnx: Any = import_module("tf2onnx")
    spec = [
        tf.TensorSpec(one.shape, one.dtype, name=f"in{i}") for i, one in enumerate(model.inputs)
    ]

    def call(x: Any) -> Any:
        return model(x, training=False)

    function = tf.function(call, input_signature=spec)
    tf2onnx.convert.from_function(function, input_signature=spec, opset=opset, output_path=out)


if __name__ == "__main__":
    main()
