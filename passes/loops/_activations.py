"""The activations of LSTM, GRU and RNN.

References: https://onnx.ai/onnx/operators/onnx__LSTM.html
"""

from collections.abc import Sequence

from graphfix.authoring import NodeView, Refuse

# Those that read no alpha and beta, or take the ones that their operator has too.
_OPERATORS = {
    name.lower(): name
    for name in ("HardSigmoid", "Relu", "Sigmoid", "Softplus", "Softsign", "Tanh")
}
_PLAIN = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}


def plain_activations(node: NodeView) -> bool:
    """Say whether the activations that a node names are those that it has without."""
    named = [str(name).lower() for name in node.attr("activations")]
    once = _PLAIN[node.op]
    return named in (once, once * 2)


def activations_of(node: NodeView, place: int) -> Sequence[str]:
    """Return the operators that are the activations of one direction.

    Raises:
        Refuse: One is no operator, or has parameters.
    """
    once = _PLAIN[node.op]
    named = [str(name).lower() for name in node.attr("activations", ())]
    named = named[place * len(once) :][: len(once)] or once
    if node.has("activation_alpha") or node.has("activation_beta"):
        raise Refuse("the activations must have no parameters; they have some")
    if len(named) != len(once) or not _OPERATORS.keys() >= set(named):
        known = ", ".join(_OPERATORS.values())
        raise Refuse(f"the activations must be among {known}; they are {', '.join(named)}")
    return [_OPERATORS[name] for name in named]
