"""Export a small network of transformers with random weights by optimum-onnx.

    optimum_onnx.py NAME ROW FOLDER

ROW is JSON: `type` (of the configuration; NAME without it), `task` (of optimum) and `config`, which
overrides what `SMALL` makes of the defaults of the configuration. No hub is asked.
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("optimum.exporters.onnx", "optimum.exporters.tasks", "transformers", "torch")

# What configurations call their sizes, and what makes them small.
SMALL: dict[str, Any] = {
    "vocab_size": 128,
    "hidden_size": 32,
    "d_model": 32,
    "n_embd": 32,
    "n_embed": 32,
    "embed_dim": 32,
    "emb_dim": 32,
    "dim": 32,
    "hidden_dim": 64,
    "d_kv": 8,
    "d_ff": 64,
    "embedding_size": 16,
    "intermediate_size": 64,
    "ffn_dim": 64,
    "ffn_hidden_size": 64,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "num_hidden_layers": 2,
    "num_layers": 2,
    "num_decoder_layers": 2,
    "n_layer": 2,
    "n_layers": 2,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_heads": 4,
    "n_head": 4,
    "n_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "n_positions": 64,
    "n_ctx": 64,
    "max_seq_len": 64,
    "projection_dim": 16,
    "num_labels": 3,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "decoder_start_token_id": 1,
    "num_queries": 5,
    "num_mel_bins": 16,
    "image_size": 32,
    "patch_size": 8,
}


def small(config: Any, over: dict[str, Any]) -> dict[str, Any]:
    """Return what to override of a configuration and of those inside of it."""
    found: dict[str, Any] = {}
    for name, value in config.to_dict().items():
        inner: Any = getattr(config, name, None)
        if hasattr(inner, "to_dict"):
            given = over.get(name, {})
            found[name] = {**inner.to_dict(), **small(inner, given)}
        elif name in over:
            found[name] = over[name]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            name_of = getattr(config, "attribute_map", {}).get(name, name)
            if name in SMALL or name_of in SMALL:
                found[name] = SMALL.get(name, SMALL.get(name_of))
    return {**found, **{name: value for name, value in over.items() if name not in found}}


def network(name: str, row: dict[str, Any]) -> tuple[Any, str]:
    """Return the network and the task."""
    tasks: Any = import_module("optimum.exporters.tasks").TasksManager
    mapping: Any = import_module("transformers").CONFIG_MAPPING
    kind = row.get("type", name)
    default = mapping[kind]()
    config = mapping[kind](**small(default, row.get("config", {})))
    task = row["task"]
    found = tasks.get_model_class_for_task(
        task.replace("-with-past", ""), framework="pt", model_type=kind
    )
    torch: Any = import_module("torch")
    torch.manual_seed(0)
    if hasattr(found, "from_config"):
        return found.from_config(config).eval(), task
    return found(config).eval(), task


def main() -> None:
    """Export what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    model, task = network(name, row)
    export: Any = import_module("optimum.exporters.onnx").onnx_export_from_model
    export(model, folder, task=task, do_validation=False, no_post_process=row.get("apart", False))


if __name__ == "__main__":
    main()
