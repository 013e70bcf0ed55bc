"""Drop the imports of domains that no node uses.

What it does: Drops each opset import, of the model and of its functions, whose domain no node there
    uses. The import of the default domain stays.
Why engines need it: onnxruntime refuses a file that imports a domain in a version it does not know,
    used or not. Models that it optimised and saved import all domains that the writing release
    knew.
Before:
    opset_import: ["" : 13, "ai.onnx.ml" : 5]
    y = Relu (x)
After:
    opset_import: ["" : 13]
    y = Relu (x)
When it refuses: Never.
Accuracy: Exact.
References: microsoft/onnxruntime onnxruntime/core/graph/model_load_utils.h (ValidateOpsetForDomain)
"""

from graphfix.authoring import Editor, NodeRef, graph_pass, normal_domain


@graph_pass(removes="domain:too-high.* domain:first.*")
def unused_opset_imports(editor: Editor) -> None:
    """Look at the main graph and at each function."""
    for root in editor.model.roots():
        used = {normal_domain(node.domain) for graph in root.walk() for node in graph.nodes}
        for domain in [known for known in root.opsets if known and known not in used]:
            version = root.opsets.pop(domain)
            editor.record_number(
                NodeRef(scope=root.scope), f"{domain} {version} is no longer imported"
            )
