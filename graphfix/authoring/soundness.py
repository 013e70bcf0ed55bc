"""What ONNX itself says of the nodes that a pass built, before any of them is in the graph.

Linear in the nodes that were built: the schema checker takes about two microseconds for a node
and no weights, and types were inferred when each node was built.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx

from graphfix.analysis.inference import infer_node
from graphfix.authoring.applying import Draft, check_results
from graphfix.authoring.building import Builder
from graphfix.errors import PassBug
from graphfix.ir.exporting import export_node
from graphfix.ir.graph import Node
from graphfix.ir.protos import normal_domain
from graphfix.ir.refusing import Refuse
from graphfix.ir.schemas import form_of, minimal_ir

_UNSUPPORTED = "has unsupported type"  # what ONNX's inference says of a dtype


def check_draft(draft: Draft, build: Builder, by: str) -> None:
    """Check what a pass built for a node: schema, types, and what the outputs were before.

    Args:
        draft: What it built.
        build: What it was built with.
        by: The pass, as the message names it.

    Raises:
        Refuse: An operator does not take the dtype at this opset.
        PassBug: A node is not valid where it is to be, its inputs do not fit together, or an
            output would change its dtype or shape.
    """
    context = _context(build)
    for node in all_nodes(draft.nodes):
        said = _invalid(node, build, context)
        if not said and id(node) in build.complaints and node.op != "Constant":
            # (Before opset 9 the schema of Constant has floats only; engines never minded.)
            said = build.complaints[id(node)]
            if infer_node(draft.node):
                said = ""  # the model says of the replaced node too what cannot be
        if _UNSUPPORTED in said:
            # What was there takes a dtype that this operator has not yet at this opset.
            raise Refuse(f"opset {build.opset} has no {node.op} of this dtype: {said}")
        if said:
            raise PassBug(f"{by} emitted {node.op}, which is not valid: {said}")
    check_results(draft)


def all_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes, each after those in its subgraphs: a fault there makes it look wrong too."""
    for node in nodes:
        for _, body in node.graphs():
            yield from all_nodes(body.nodes)
        yield node


def _context(build: Builder) -> onnx.checker.C.CheckerContext:
    context = onnx.checker.C.CheckerContext()
    opsets = {domain: version for domain, version in build.opsets.items() if version}
    opsets.setdefault("", build.opset)
    context.opset_imports = opsets
    context.ir_version = max(minimal_ir(opsets[""]), 4)
    return context


def _invalid(node: Node, build: Builder, context: onnx.checker.C.CheckerContext) -> str:
    """Return what the schema of a node says against it; empty for nothing."""
    domain = normal_domain(node.domain)
    version = build.opset if not domain else build.opsets.get(domain, 0)
    if form_of(node.op, version, domain) is None or any(True for _ in node.graphs()):
        # The checker takes captured tensors for undefined ones; subgraphs are looked at by node.
        return ""
    try:
        onnx.checker.check_node(export_node(node), context)
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        return str(error).strip().partition("\n")[0]
    return ""
