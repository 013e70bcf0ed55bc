"""Fuse a Pad of zeros into the convolution after it.

What it does: Adds what Pad puts before and after the spatial axes to the pads of Conv. It runs
    only when it is named.
Why engines need it: The padded copy is never written; some engines have no Pad that a convolution
    may follow.
Before:
    p = Pad (x, [0, 0, 1, 1, 0, 0, 1, 1])
    y = Conv (p, w)
After: y = Conv <pads = [1, 1, 1, 1]> (x, w)
When it refuses: Pads that are negative, or of batch or channels; a Conv that finds its pads by
    itself (auto_pad). Other values than 0, other modes and pads along named axes are no match, and
    neither is a Pad with another reader.
Accuracy: exact: the same products are added up.
References: https://onnx.ai/onnx/operators/onnx__Conv.html
"""

from graphfix.authoring import NAMED, Builder, Find, Match, Refuse, Sought, Value, rewrite


@rewrite.pattern
def _padded(
    find: Find, x: Sought, weights: Sought, bias: Sought, pads: Sought, given: Sought
) -> Sought:
    zeros = find.either(find.Pad(x, find.constant(given), find.given(0)), find.Pad(x, pads=pads))
    return find.node("Conv", zeros, weights, find.given(bias), label="conv", others=True)


@rewrite(_padded, emits="Conv", stage=NAMED)
def conv_padding_fusion(match: Match, build: Builder) -> Value:
    """Emit the node with more pads, see the module."""
    conv, x = match.called("conv"), match["x"]
    pads: list[int] = match.attribute("pads") or match.array("given").tolist()
    rank = len(pads) // 2
    if x.rank != rank:
        raise Refuse("the rank must be known")
    if min(pads) < 0 or any(pads[place] for place in (0, 1, rank, rank + 1)):
        raise Refuse(f"only spatial axes may be padded, and none cut; the pads are {pads}")
    if conv.attr("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise Refuse("the convolution must say its pads; it finds them by itself")
    own = list(conv.attr("pads") or [0] * (2 * rank - 4))
    if conv.attr("auto_pad", "NOTSET") == "VALID":
        own = [0] * (2 * rank - 4)
    attributes = {name: conv.attr(name) for name in conv.attributes if name != "auto_pad"}
    more = [*pads[2:rank], *pads[rank + 2 :]]
    attributes["pads"] = [one + other for one, other in zip(own, more, strict=True)]
    return build.Conv(x, match["weights"], match.get("bias"), **attributes)
