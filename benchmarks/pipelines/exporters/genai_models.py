"""Write a small decoder with random weights by onnxruntime-genai: genai_models.py NAME ROW FOLDER.

ROW is JSON: `model` (of `MODELS`), `precision`, `provider`, and `extra`, the builder's options.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

PRELOADED = ("torch", "transformers", "onnxruntime_genai.models.builder")

SMALL: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 320,
    "max_position_embeddings": 128,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
# What begins the names of the classes of transformers, and what else is set in the configuration.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {}),
    "qwen2": ("Qwen2", {}),
    "qwen3": ("Qwen3", {"head_dim": 16}),
    "phi": ("Phi", {"num_key_value_heads": 4, "partial_rotary_factor": 1.0}),
    "phi3": ("Phi3", {"original_max_position_embeddings": 128}),
    "gemma": ("Gemma", {"head_dim": 16}),
    "gemma2": ("Gemma2", {"head_dim": 16, "sliding_window": 8, "query_pre_attn_scalar": 16}),
    "mistral": ("Mistral", {"head_dim": 16, "sliding_window": 64}),
    "smollm3": ("SmolLM3", {}),
    "granite": ("Granite", {}),
    "olmo": ("Olmo", {}),
    "nemotron": ("Nemotron", {"head_dim": 16}),
    "ernie": ("Ernie4_5", {"head_dim": 16}),
    "qwen3moe": (
        "Qwen3Moe",
        {"head_dim": 16, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64},
    ),
}


def source(kind: str, folder: Path) -> None:
    """Write a network as a folder of transformers, with a tokenizer of 256 words."""
    transformers: Any = import_module("transformers")
    tokenizers: Any = import_module("tokenizers")
    begins, over = MODELS[kind]
    config = getattr(transformers, f"{begins}Config")(**{**SMALL, **over})
    getattr(transformers, f"{begins}ForCausalLM")(config).eval().save_pretrained(folder)
    words = {f"t{i}": i for i in range(256)} | {"<unk>": 256}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    special = {"unk_token": "<unk>", "bos_token": "t1", "eos_token": "t2", "pad_token": "t0"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, **special).save_pretrained(folder)


def main() -> None:
    """Write what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3])
    torch: Any = import_module("torch")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    source(row["model"], Path("source"))
    builder: Any = import_module("onnxruntime_genai.models.builder")
    extra = [f"{key}={value}" for key, value in row.get("extra", {}).items()]
    words = ("", "source", "built", row["precision"], row["provider"], "cache")
    builder.create_model(*words, **builder.parse_extra_options(*words, extra))
    onnx: Any = import_module("onnx")
    onnx.save(onnx.load("built/model.onnx"), folder / f"{name}.onnx")  # with the weights inside


if __name__ == "__main__":
    main()
