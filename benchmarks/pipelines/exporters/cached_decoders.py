"""Export a decoder of transformers with its cache as inputs: cached_decoders.py NAME ROW FOLDER.

ROW is JSON: `type` (of the configuration; NAME without it), `config`, which overrides what `SMALL`
of `optimum_onnx` makes of the defaults, and what `torch_onnx` reads. A DynamicCache is filled from
inputs `past_key_0`, `past_value_0` and so on, and read again for the outputs; the other inputs are
`input_ids` and `attention_mask`.
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("torch", "transformers", "optimum_onnx", "torch_onnx")
_FREE = {
    "input_ids": {0: "batch", 1: "new"},
    "attention_mask": {0: "batch", 1: "total"},
}


def wrapped(model: Any) -> Any:
    """Return a module that takes and returns a cache as tensors."""
    torch: Any = import_module("torch")
    cache_of: Any = import_module("transformers").DynamicCache

    class Flat(torch.nn.Module):  # type: ignore[misc]  # of no known type
        model: Any

        def forward(self, *given: Any) -> tuple[Any, ...]:
            ids, mask, *past = given
            cache = cache_of.from_legacy_cache(tuple(zip(past[::2], past[1::2], strict=True)))
            found = self.model(
                input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True
            )
            pairs = found.past_key_values.to_legacy_cache()
            return (found.logits, *(x for pair in pairs for x in pair[:2]))

    flat = Flat()
    flat.model = model
    return flat


def main() -> None:
    """Export what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    torch: Any = import_module("torch")
    torch.manual_seed(0)
    transformers: Any = import_module("transformers")
    mapping: Any = transformers.CONFIG_MAPPING
    small: Any = import_module("optimum_onnx").small
    kind = row.get("type", name)
    config = mapping[kind](**small(mapping[kind](), row.get("config", {})))
    if row.get("way") != "dynamo":  # tracing knows no vmap, with which masks are made otherwise
        masks: Any = import_module("transformers.masking_utils")
        without: Any = import_module("transformers.integrations.executorch")
        masks.ALL_MASK_ATTENTION_FUNCTIONS.register("sdpa", without.sdpa_mask_without_vmap)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    first = model(input_ids=torch.ones((1, 3), dtype=torch.int64), use_cache=True)
    pairs = first.past_key_values.to_legacy_cache()
    past = [x.detach() for pair in pairs for x in pair[:2]]
    ids, mask = torch.ones((1, 2), dtype=torch.int64), torch.ones((1, 5), dtype=torch.int64)
    kinds = [f"{kind}_{i}" for i in range(len(pairs)) for kind in ("key", "value")]
    names = ["input_ids", "attention_mask", *(f"past_{each}" for each in kinds)]
    made = ["logits", *(f"present_{each}" for each in kinds)]
    free = {**_FREE, "logits": {0: "batch", 1: "new"}}
    free |= {f"past_{each}": {0: "batch", 2: "past"} for each in kinds}
    if row.get("way") != "dynamo":
        free |= {f"present_{each}": {0: "batch", 2: "total"} for each in kinds}
    write: Any = import_module("torch_onnx").export
    out = f"{folder}/{name}.onnx"
    write(wrapped(model), (ids, mask, *past), out, {**row, "free": free}, (names, made))


if __name__ == "__main__":
    main()
