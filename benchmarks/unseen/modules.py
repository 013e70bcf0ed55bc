"""Random networks of PyTorch modules, each made by its seed alone.

A network is of one kind: images, sequences or vectors. Its blocks are drawn one after the other,
each from what is known of the shape so far, so that all of them fit.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from benchmarks.unseen.layers import (
    ChannelsLast,
    Computed,
    Excitation,
    First,
    OverPixels,
    Picked,
    Residual,
    SelfAttention,
)

torch: Any = import_module("torch")
nn: Any = torch.nn
functional: Any = nn.functional

Shape: TypeAlias = tuple[int, ...]
Maker: TypeAlias = Callable[[random.Random, Shape], Any]


def _activation(numbers: random.Random) -> Any:
    makers: list[Callable[[], Any]] = [
        *(nn.ReLU, nn.ReLU6, nn.GELU, nn.SiLU, nn.Hardswish, nn.Hardsigmoid, nn.Sigmoid, nn.Tanh),
        *(nn.Mish, nn.ELU, nn.SELU, nn.CELU, nn.Softplus, nn.Softsign, nn.LogSigmoid, nn.PReLU),
        *(lambda: nn.LeakyReLU(0.2), lambda: nn.GELU(approximate="tanh")),
        *(
            lambda: nn.Hardtanh(-0.7, 0.9),
            lambda: nn.Threshold(0.1, 0.2),
            lambda: nn.Hardshrink(0.3),
        ),
        lambda: nn.Softshrink(0.2),
    ]
    return numbers.choice(makers)()


def _conv(numbers: random.Random, shape: Shape) -> Any:
    channels = shape[1]
    out = numbers.choice((4, 6, 8, 12))
    groups = numbers.choice(
        [g for g in (1, 1, 2, 3, channels) if channels % g == 0 and out % g == 0]
    )
    kernel = numbers.choice((1, 3, 3, 5))
    dilation = numbers.choice((1, 1, 2)) if kernel > 1 else 1
    mode = numbers.choice(("zeros", "zeros", "zeros", "reflect", "replicate"))
    layer = nn.Conv2d if len(shape) == 4 else nn.Conv1d
    return layer(
        *(channels, out, kernel),
        stride=numbers.choice((1, 1, 2)),
        padding=dilation * (kernel // 2),
        dilation=dilation,
        groups=groups,
        bias=numbers.random() < 0.7,
        padding_mode=mode,
    )


def _transposed(numbers: random.Random, shape: Shape) -> Any:
    if max(shape[2:]) > 24:
        return None
    stride = numbers.choice((1, 2, 3))
    layer = nn.ConvTranspose2d if len(shape) == 4 else nn.ConvTranspose1d
    extra = numbers.choice((0, 1)) if stride > 1 else 0
    return layer(shape[1], numbers.choice((4, 6)), 3, stride, padding=1, output_padding=extra)


def _norm(numbers: random.Random, shape: Shape) -> Any:
    channels, images = shape[1], len(shape) == 4
    groups = numbers.choice([g for g in (1, 2, 3, 4) if channels % g == 0])
    norms: list[Any] = [nn.GroupNorm(groups, channels)]
    norms.append((nn.BatchNorm2d if images else nn.BatchNorm1d)(channels))
    norms.append((nn.InstanceNorm2d if images else nn.InstanceNorm1d)(channels, affine=True))
    norms.append(Computed(lambda x: functional.normalize(x, dim=1)))
    if images:
        norms.append(nn.LocalResponseNorm(numbers.choice((3, 4))))
    return numbers.choice(norms)


def _pool(numbers: random.Random, shape: Shape) -> Any:
    if min(shape[2:]) < 4:
        return None
    kernel, stride = numbers.choice((2, 3)), numbers.choice((1, 2))
    ceil, counted = numbers.random() < 0.4, numbers.random() < 0.5
    pad = numbers.choice((0, 1))
    if len(shape) == 3:
        return numbers.choice(
            (
                nn.MaxPool1d(kernel, stride, pad, ceil_mode=ceil),
                nn.AvgPool1d(kernel, stride, pad, ceil, counted),
            )
        )
    small = numbers.choice((1, 2, (1, None), min(shape[2:]) // 2))
    pools: list[Any] = [
        nn.MaxPool2d(kernel, stride, pad, ceil_mode=ceil),
        nn.AvgPool2d(kernel, stride, pad, ceil, counted),
        nn.LPPool2d(2, 2),
    ]
    if small == 1 or (isinstance(small, int) and all(side % small == 0 for side in shape[2:])):
        pools += [nn.AdaptiveAvgPool2d(small), nn.AdaptiveMaxPool2d(small)]
    return numbers.choice(pools)


def _resize(numbers: random.Random, shape: Shape) -> Any:
    if len(shape) != 4 or max(shape[2:]) > 24:
        return None
    mode = numbers.choice(("nearest", "nearest-exact", "bilinear", "bicubic"))
    corners = numbers.random() < 0.4 if mode[0] == "b" else None
    if numbers.random() < 0.5:
        size = tuple(side + numbers.choice((-1, 2, 3)) for side in shape[2:])
        if min(size) < 2:
            return None
        return nn.Upsample(size=size, mode=mode, align_corners=corners)
    factor = numbers.choice((2.0, 1.5, 3.0, 0.5))
    if int(min(shape[2:]) * factor) < 2:
        return None
    return nn.Upsample(scale_factor=factor, mode=mode, align_corners=corners)


def _moved(numbers: random.Random, shape: Shape) -> Any:
    """Return something that moves numbers, of axes after the batch."""
    channels, last = shape[1], shape[-1]
    reverse = Computed(lambda x: x.flip(-1))
    rolled = Computed(lambda x: x.roll(numbers_shift, -1))
    numbers_shift = numbers.choice((1, 2, -1))
    how = numbers.choice(("select", "gather", "scatter", "put"))
    moved: list[Any] = [reverse, rolled, Picked(numbers, channels, how)]
    moved.append(
        Computed(
            lambda x: torch.stack(x.chunk(2, 1), 2).flatten(1, 2) if channels % 2 == 0 else x.neg()
        )
    )
    if last > 2:
        moved.append(Computed(lambda x: x[..., 1:]))
        moved.append(Computed(lambda x: x[..., ::2]))
    if len(shape) == 4:
        mode = numbers.choice(("constant", "reflect", "replicate"))
        pads = (1, 0, 0, 1) if min(shape[2:]) > 1 else (0, 0, 0, 0)
        moved.append(Computed(lambda x: functional.pad(x, pads, mode)))
        moved.append(Computed(lambda x: x.transpose(2, 3)))
        if channels % 4 == 0:
            moved.append(nn.PixelShuffle(2))
        if all(side % 2 == 0 for side in shape[2:]):
            moved.append(nn.PixelUnshuffle(2))
    return numbers.choice(moved)


def _arithmetic(numbers: random.Random, shape: Shape) -> Any:
    """Return something that computes without weights, over the last or the second axis."""
    axis = numbers.choice((1, -1))
    keep: list[Callable[[Any], Any]] = [
        lambda x: x - x.mean(axis, keepdim=True),
        lambda x: x / (x.std(axis, keepdim=True, unbiased=False) + 0.5),
        lambda x: x.softmax(axis),
        lambda x: x.log_softmax(axis),
        lambda x: x.cumsum(axis) * 0.1,
        lambda x: torch.where(x > 0.1, x * 2, x - 1),
        lambda x: x.clamp(-0.5, 0.8),
        lambda x: x.abs().add(0.1).sqrt(),
        lambda x: x.pow(2) - x,
        lambda x: torch.exp(-x.abs()),
        lambda x: x.sign() * torch.log1p(x.abs()),
        lambda x: torch.sin(x) + torch.cos(x),
        lambda x: torch.erf(x),
        lambda x: x.round() * 0.5 + x.floor() * 0.25,
        lambda x: x * x.amax(axis, keepdim=True),
        lambda x: x - x.logsumexp(axis, keepdim=True),
        lambda x: torch.remainder(x, 0.75),
        lambda x: x.masked_fill(x < -0.3, 0.25),
        lambda x: torch.maximum(x, x.flip(-1)) + torch.minimum(x, x.mean()),
        lambda x: x.norm(dim=axis, keepdim=True) + x,
        lambda x: x * torch.arange(x.shape[-1], dtype=x.dtype),
        lambda x: x.tril() if x.dim() > 3 else x.triu(1) + x,
        lambda x: x.topk(min(3, x.shape[-1]), dim=-1).values,
        lambda x: x.sum(-1, keepdim=True).expand_as(x) * 0.1,
    ]
    del shape
    return Computed(numbers.choice(keep))


def _mixed(numbers: random.Random, shape: Shape) -> Any:
    """Return what mixes images by way of another layout."""
    if len(shape) != 4:
        return None
    channels = shape[1]
    form = numbers.choice(("excitation", "einsum", "attention", "last"))
    if form == "excitation":
        return Excitation(channels, numbers.choice((nn.Sigmoid(), nn.Hardsigmoid())))
    if form == "einsum":
        weights = nn.Parameter(torch.randn(channels, 6) * 0.3)
        block = Computed(lambda x: torch.einsum("bchw,cd->bdhw", x, weights))
        block.register_parameter("weights", weights)
        return block
    if form == "attention":
        inner = SelfAttention(
            channels, 1, numbers.choice(("plain", "einsum", "fused")), causal=False
        )
        return OverPixels(inner)
    return ChannelsLast(nn.Sequential(nn.LayerNorm(channels), nn.Linear(channels, channels)))


def _linear(numbers: random.Random, shape: Shape) -> Any:
    return nn.Linear(shape[-1], numbers.choice((6, 8, 12)), bias=numbers.random() < 0.7)


def _attention(numbers: random.Random, shape: Shape) -> Any:
    heads = numbers.choice([h for h in (1, 2, 3, 4) if shape[-1] % h == 0])
    form = numbers.choice(("plain", "einsum", "fused", "module", "layer"))
    if form == "layer":
        return nn.TransformerEncoderLayer(shape[-1], heads, 16, batch_first=True, norm_first=True)
    if form == "module":
        inner = nn.MultiheadAttention(shape[-1], heads, batch_first=True)
        block = Computed(lambda x: inner(x, x, x, need_weights=False)[0])
        block.add_module("inner", inner)
        return block
    return SelfAttention(shape[-1], heads, form, causal=numbers.random() < 0.4)


def _recurrent(numbers: random.Random, shape: Shape) -> Any:
    layer = numbers.choice((nn.GRU, nn.LSTM, nn.RNN))
    both = numbers.random() < 0.4
    return First(
        layer(shape[-1], 6, numbers.choice((1, 1, 2)), batch_first=True, bidirectional=both)
    )


def _sequence_norm(numbers: random.Random, shape: Shape) -> Any:
    return numbers.choice((nn.LayerNorm(shape[-1]), nn.RMSNorm(shape[-1]), nn.LayerNorm(shape[1:])))


def _across(numbers: random.Random, shape: Shape) -> Any:
    inner = numbers.choice((_conv, _norm, _pool))(numbers, (shape[0], shape[2], shape[1]))
    return None if inner is None else nn.Sequential(Computed(_swapped), inner, Computed(_swapped))


def _swapped(x: Any) -> Any:
    return x.transpose(1, 2)


_IMAGES: list[Maker] = [
    _conv,
    _conv,
    _conv,
    _transposed,
    _norm,
    _pool,
    _resize,
    _moved,
    _arithmetic,
    _mixed,
]
_SEQUENCES: list[Maker] = [
    _linear,
    _attention,
    _attention,
    _recurrent,
    _sequence_norm,
    _across,
    _moved,
    _arithmetic,
]
_VECTORS: list[Maker] = [_linear, _linear, _arithmetic, _sequence_norm, _moved]


@dataclass(frozen=True)
class Network:
    """A drawn network.

    Attributes:
        module: The network, in evaluation mode.
        shape: The shape of its only input, a float32 tensor.
    """

    module: Any
    shape: Shape


def network_of(seed: int) -> Network:
    """Draw a network by its seed: 4 to 9 blocks, an input of a few thousand numbers at most."""
    numbers = random.Random(seed)
    torch.manual_seed(seed)
    kind = numbers.choice(("images", "images", "images", "sequences", "sequences", "vectors"))
    if kind == "images":
        shape: Shape = (
            numbers.choice((1, 1, 2)),
            3,
            numbers.choice((12, 16, 20)),
            numbers.choice((12, 16)),
        )
        makers = _IMAGES
    elif kind == "sequences":
        shape, makers = (numbers.choice((1, 2)), numbers.choice((5, 8, 10)), 12), _SEQUENCES
    else:
        shape, makers = (numbers.choice((1, 2, 3)), 12), _VECTORS
    blocks: list[Any] = []
    x = torch.randn(shape)
    wanted = numbers.randint(4, 9)
    while len(blocks) < wanted:
        block = numbers.choice(makers)(numbers, tuple(x.shape))
        if block is None:
            continue
        if numbers.random() < 0.4:
            block = nn.Sequential(block, _activation(numbers))
        joined = numbers.random()
        try:
            block, y = _run(block.eval(), x, joined)
        except (RuntimeError, ValueError):  # it does not fit these sizes
            continue
        # What vanishes, explodes or shrinks to nothing says little.
        if y.numel() > 20_000 or y.numel() < 4 or y.shape[0] != x.shape[0] or y.dim() != x.dim():
            continue
        if not torch.isfinite(y).all() or y.abs().max() > 1e4 or float(y.std()) < 1e-3:
            continue
        blocks.append(block)
        x = y
    return Network(nn.Sequential(*blocks).eval(), shape)


def _run(block: Any, x: Any, joined: float) -> tuple[Any, Any]:
    """Run a block, around which what it is given is led now and then, where the shapes allow it."""
    with torch.no_grad():
        y: Any = block(x)
        if y.shape != x.shape or joined > 0.3:
            return block, y
        block = Residual(block, join=x.dim() > 2 and joined < 0.12)
        return block, block(x)
