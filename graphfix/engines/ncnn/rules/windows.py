"""ncnn: padding and pooling."""

from __future__ import annotations

from graphfix.authoring.automatic_pads import automatic_pads
from graphfix.authoring.declaring import Unknown
from graphfix.engines.ncnn.rules import FACTS, MEASURED, RANK
from graphfix.engines.pool_windows import (
    sizes_are_open,
    window_is_larger,
    window_sticks_out,
)
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import adds_a_window, ignores_output_shape
from graphfix.ir.views import NodeView

OUTPUT_SHAPE = ignores_output_shape(
    versions="ncnn",
    source=f"{MEASURED}: without pads it is not read; with auto_pad pnnx refuses it",
)
WINDOW_PAST_THE_END = adds_a_window(
    versions="ncnn", source=f"{MEASURED}: a window of 2 by strides of 3 over 9 gives 4"
)


@rule(
    "Pad",
    feature="attr:Pad.outer-dims",
    severity=WRONG,
    source=f"{MEASURED}: all modes, with a batch of 1 and of 2; channels and images are padded, and"
    " all axes of smaller tensors",
)
def pad_of_the_batch(node: NodeView, target: Target) -> Answer:
    """ncnn ignores pads of the first of four axes."""
    x, pads = node.input(0), _pads(node)
    if x is None or pads is None:
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    return x.rank >= RANK and (pads[0] != 0 or pads[x.rank] != 0)


@rule(
    "Pad",
    feature="form:Pad.negative",
    severity=REJECT,
    text="layer F.pad not exists or registered",
    source=f"{MEASURED}: mode constant is equal",
)
def pad_that_crops(node: NodeView, target: Target) -> Answer:
    """pnnx supports negative pads with mode constant only, and no mode wrap."""
    mode, pads = node.attr("mode", "constant"), _pads(node)
    if mode == "wrap":
        return Yes(feature="attr:Pad.mode=wrap")
    return mode != "constant" and pads is not None and any(pad < 0 for pad in pads)


def _pads(node: NodeView) -> list[int] | None:
    given = node.input(1)
    pads = node.attr("pads", None) if given is None else given.array()
    return None if pads is None else [int(pad) for pad in pads]


@rule(
    "AveragePool",
    feature="shape:AveragePool.pads",
    severity=REJECT,
    text="layer AveragePool not exists or registered",
    source=MEASURED,
)
def pads_of_two_sizes(node: NodeView, target: Target) -> Answer:
    """pnnx requires equal pads at the beginning and end of AveragePool."""
    pads = [int(pad) for pad in node.attr("pads", ())]
    half = len(pads) // 2
    return pads[:half] != pads[half:]


@rule(
    ("AveragePool", "MaxPool"),
    feature="shape:{op}.window",
    severity=WRONG,
    source=f"{MEASURED}: a window of 5 over 3 with ceil_mode gives four results instead of one",
)
def window_larger_than_the_input(node: NodeView, target: Target) -> Answer:
    """ncnn returns the wrong shape where the kernel of {op} exceeds the padded input."""
    return window_is_larger(node)


@rule(
    "AveragePool",
    feature="attr:AveragePool.count_include_pad",
    severity=WRONG,
    source=f"{MEASURED}: windows of 3 by strides of 2 over 8, with pads and without",
)
def average_beyond_the_end(node: NodeView, target: Target) -> Answer:
    """ncnn's average counts positions past the padding that ceil_mode adds; ONNX does not."""
    if not (node.attr("count_include_pad", 0) and node.attr("ceil_mode", 0)):
        return False
    if sizes_are_open(node):
        return Unknown(f"sizes of {node.need(0).name}")
    return window_sticks_out(node)


@rule(
    "AveragePool",
    feature="form:AveragePool.norm",
    severity=REJECT,
    text="layer F.lp_pool2d not exists or registered",
    source=f"{FACTS}: with both ends a Pow, and sign times size of the mean times the window, as"
    " PyTorch writes LPPool; in all other forms they are equal",
)
def pool_of_powers(node: NodeView, target: Target) -> Answer:
    """pnnx fuses Pow, AveragePool and Pow into LPPool, which ncnn does not have."""
    x, mean = node.input(0), node.output(0)
    if x is None or mean is None or x.producer is None or x.producer.op != "Pow":
        return False
    for sign in mean.consumers:
        last: NodeView | None = sign
        for op in ("Sign", "Mul", "Mul", "Pow"):
            if last is None or last.op != op:
                break
            readers = last.outputs[0].consumers if last.outputs[0] is not None else ()
            if op == "Pow":
                return True
            last = readers[0] if len(readers) == 1 else None
    return False


@rule(
    ("AveragePool", "MaxPool"),
    feature="attr:{op}.auto_pad",
    severity=WRONG,
    source=f"{MEASURED}: windows of 2 to 5, strides of 1 to 3 over 6 to 10: an odd sum of pads is"
    " right where the window is even, and an average counts pads whatever it says",
)
def automatic_padding(node: NodeView, target: Target) -> Answer:
    """ncnn pads {op} differently from what auto_pad=SAME_UPPER requires."""
    if node.attr("auto_pad", "NOTSET") != "SAME_UPPER":
        return None
    sums = automatic_pads(node)
    if sums is None or None in sums:
        return Unknown(f"sizes of {node.need(0).name}")
    counted = node.op == "MaxPool" or node.attr("count_include_pad", 0)
    odd = zip(sums, node.attr("kernel_shape", ()), strict=False)
    return (not counted and any(sums)) or any((total or 0) % 2 and size % 2 for total, size in odd)
