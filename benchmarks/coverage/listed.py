"""The list: every operator of ATen that an exporter of PyTorch could write as a node.

Source: the schemas that the installed PyTorch registers (native_functions.yaml among them), which
of them its tags and arguments say something of, and the symbolic functions of its TorchScript
exporter, which writes what they lack as an ATen node.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

FACTS = Path(__file__).parent / "aten.json"
# What no finite number of steps gives, and why.
_EIGEN = "eigenvalues are roots of polynomials of any degree, which only endless iterations give"
ENDLESS = dict.fromkeys(
    (
        "linalg_eig",
        "_linalg_eigvals",
        "linalg_eigvals",
        "linalg_eigh",
        "_linalg_eigh",
        "linalg_eigvalsh",
        "linalg_svd",
        "_linalg_svd",
        "linalg_svdvals",
        "svd",
        "linalg_cond",
        "linalg_matrix_rank",
        "nuclear_norm",
    ),
    _EIGEN,
)
_KINDS = ("ordinary", "random", "changes", "gradient", "special", "none")
# Words in the names of operators on tensors that ONNX has not, or of one device.
_SPECIAL = frozenset(
    {"sparse", "quantize", "mkldnn", "cudnn", "miopen", "fbgemm", "complex", "nested", "foreach"}
    | {"fft_", "stft", "qint", "_fw_primal", "functional_sym", "sym_", "cslt", "fused_"}
)


def write() -> int:
    """Write the list of the installed PyTorch and return how many operators it has."""
    torch: Any = importlib.import_module("torch")
    registration: Any = importlib.import_module(
        "torch.onnx._internal.torchscript_exporter.registration"
    )
    importlib.import_module("torch.onnx._internal.torchscript_exporter.utils")
    symbolic = {
        name.removeprefix("aten::")
        for name in registration.registry.all_functions()
        if name.startswith("aten::")
    }
    found: dict[str, int] = {}
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::"):
            continue
        name = schema.name.removeprefix("aten::")
        kind = _KINDS.index(_kind(torch, name, schema))
        found[name] = min(kind, found.get(name, len(_KINDS)))
    rows = {name: [found[name], int(name in symbolic)] for name in sorted(found)}
    lines = [f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()]
    head = {
        "source": f"python -m benchmarks.coverage list, PyTorch {torch.__version__}: "
        "torch._C._jit_get_all_schemas and torch.onnx symbolic functions",
        "columns": ["kind", "the TorchScript exporter has a symbolic function"],
        "kinds": list(_KINDS),
    }
    text = json.dumps(head, indent=1).removesuffix("\n}")
    FACTS.write_text(text + ',\n "operators": {\n' + ",\n".join(lines) + "\n }\n}\n", "utf-8")
    return len(rows)


def _kind(torch: Any, name: str, schema: Any) -> str:
    """Say what blocks a form of an operator, or that nothing does."""
    texts = [str(argument.type) for argument in (*schema.arguments, *schema.returns)]
    if not any("Tensor" in text for text in texts):
        return "none"
    if schema.is_mutable or name.endswith("_"):
        return "changes"
    if "backward" in name or "_jvp" in name or "_vjp" in name:
        return "gradient"
    packet = getattr(torch.ops.aten, name, None)
    overload = getattr(packet, schema.overload_name or "default", None)
    if overload is not None and torch.Tag.nondeterministic_seeded in overload.tags:
        return "random"
    return "special" if any(part in name for part in _SPECIAL) else "ordinary"


def read() -> dict[str, tuple[str, bool]]:
    """Return kind and whether there is a symbolic function, by operator."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    return {n: (facts["kinds"][k], bool(s)) for n, (k, s) in facts["operators"].items()}
