"""Opening a model in onnxruntime: one set of options for everything that runs models."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def open_session(
    model: bytes,
    *,
    optimised: bool = False,
    threads: int = 1,
    folder: str = "",
    mapped: bool = False,
    profile: str = "",
    arena: bool = False,
) -> Any:
    """Return an `onnxruntime.InferenceSession` (it has no types) on the CPU.

    Args:
        model: The serialized model.
        optimised: Let onnxruntime rewrite the graph.
        threads: How many work on one node.
        folder: Where external data lies.
        mapped: Use external data as the system maps it from its file, without a copy of it that
            is arranged for the kernels: it is memory that the system can reclaim.
        arena: Keep what is freed for the next tensors; without it a memory limit measures what the
            model needs, with it big tensors of one size leave no gaps.
        profile: How the name of a file begins that tells, once profiling ends, which nodes ran.

    Raises:
        Exception: Whatever onnxruntime raises; its exceptions have no common base.
    """
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    level = ort.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimised else level.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    # Idle threads spin: for a small model they cost more than all of its nodes.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = arena
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = profile
    if mapped:
        options.add_session_config_entry("session.disable_prepacking", "1")
    if folder:
        key = "session.model_external_initializers_file_folder_path"
        options.add_session_config_entry(key, folder)
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
