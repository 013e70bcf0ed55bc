"""Convert a small network of Flax by jax2onnx: jax_models.py NAME ROW FOLDER.

ROW is JSON: `opset`, and `batch`, a name where it is free. NAME begins with that of a network here.
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("jax", "flax.nnx", "jax2onnx")


def built(name: str, batch: Any) -> tuple[Any, list[Any]]:
    """Return a function and the sizes of what it takes."""
    nnx: Any = import_module("flax.nnx")
    jnp: Any = import_module("jax.numpy")
    rngs = nnx.Rngs(0)
    if name.startswith("dense"):
        one, two = nnx.Linear(12, 16, rngs=rngs), nnx.Linear(16, 4, rngs=rngs)
        norm = nnx.LayerNorm(16, rngs=rngs)

        def dense(x: Any) -> Any:
            return nnx.softmax(two(nnx.gelu(norm(one(x)))))

        return dense, [(batch, 12)]
    if name.startswith("convolutions"):
        first = nnx.Conv(3, 8, (3, 3), strides=2, rngs=rngs)
        depth = nnx.Conv(8, 8, (3, 3), feature_group_count=8, rngs=rngs)
        norm = nnx.BatchNorm(8, use_running_average=True, rngs=rngs)
        last = nnx.Linear(8, 5, rngs=rngs)

        def network(x: Any) -> Any:
            y = nnx.relu(norm(first(x)))
            y = nnx.max_pool(nnx.silu(depth(y)), window_shape=(2, 2), strides=(2, 2))
            return last(jnp.mean(y, axis=(1, 2)))

        return network, [(batch, 32, 32, 3)]
    if name.startswith("encoder"):
        attention = nnx.MultiHeadAttention(2, 16, decode=False, rngs=rngs)
        norms = [nnx.LayerNorm(16, rngs=rngs) for _ in range(2)]
        up, down = nnx.Linear(16, 32, rngs=rngs), nnx.Linear(32, 16, rngs=rngs)

        def block(x: Any) -> Any:
            y = x + attention(norms[0](x))
            return y + down(nnx.gelu(up(norms[1](y))))

        return block, [(batch, 10, 16)]
    if name.startswith("mixer"):
        tokens, channels = nnx.Linear(8, 8, rngs=rngs), nnx.Linear(16, 16, rngs=rngs)
        norm = nnx.RMSNorm(16, rngs=rngs)

        def mixed(x: Any) -> Any:
            y = x + jnp.swapaxes(nnx.gelu(tokens(jnp.swapaxes(norm(x), 1, 2))), 1, 2)
            return y + nnx.gelu(channels(norm(y)))

        return mixed, [(batch, 8, 16)]
    if name.startswith("numbers"):  # what is written with jax.numpy alone

        def computed(x: Any) -> Any:
            order = jnp.argsort(x, axis=-1)
            y = jnp.take_along_axis(x, order, axis=-1)
            y = jnp.where(y > 0, jnp.log1p(jnp.abs(y)), jnp.tanh(y))
            return jnp.cumsum(y, axis=-1), jnp.einsum("bi,bj->bij", y, x)

        return computed, [(batch, 6)]
    transposed = nnx.ConvTranspose(8, 3, (2, 2), strides=(2, 2), rngs=rngs)
    norm = nnx.GroupNorm(8, num_groups=2, rngs=rngs)

    def upsampled(x: Any) -> Any:
        return nnx.sigmoid(transposed(nnx.leaky_relu(norm(x))))

    return upsampled, [(batch, 8, 8, 8)]


def main() -> None:
    """Convert what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    function, inputs = built(name, row.get("batch", 1))
    convert: Any = import_module("jax2onnx").to_onnx
    given = {"opset": row["opset"]} if "opset" in row else {}
    made = convert(function, inputs, model_name=name, **given)
    import_module("onnx").save(made, f"{folder}/{name}.onnx")


if __name__ == "__main__":
    main()
