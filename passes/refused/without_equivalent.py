"""Say why nothing replaces an operator of another domain, and what can be done instead.

What it does: Nothing to the model: for each operator of com.microsoft or ai.onnx.ml that has no
    form in ONNX's operators, or none that was proved, it gives the reason and a way out.
Why engines need it: The finding says that an engine does not know the operator; what to do about it
    depends on what the operator is, and on who writes it.
Before: y = com.microsoft.Tokenizer (x)
After: y = com.microsoft.Tokenizer (x)
When it refuses: Always, with the reason.
Accuracy: Exact: nothing is changed.
References: microsoft/onnxruntime docs/ContribOperators.md, the pages of these operators;
    https://onnx.ai/onnx/operators/index.html#ai-onnx-ml
"""

from pathlib import Path

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite
from graphfix.ir.storage.toml_files import read_shipped_toml

_ROWS = read_shipped_toml(Path(__file__).with_name("reasons.toml"))["reasons"]
# The operator with its domain -> why, and what to do.
_BY_OPERATOR = {
    f"{row['domain']}::{op}": (str(row["why"]), str(row["instead"]))
    for row in _ROWS
    for op in row["operators"].split()
}
OPERATORS = tuple(sorted(_BY_OPERATOR))


@rewrite(OPERATORS, last_resort=True)
def without_equivalent(node: NodeView, build: Builder) -> Value:
    """Say why, see the module."""
    why, what = _BY_OPERATOR[f"{node.domain}::{node.op}"]
    raise Refuse(f"{why}; {what.format(node=node.name or f'op:{node.op}')}")
