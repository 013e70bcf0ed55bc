"""Layers that PyTorch has no module for, of which networks are drawn."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
nn: Any = torch.nn
functional: Any = nn.functional


class Computed(nn.Module):  # type: ignore[misc]  # of no known type
    """A function of one tensor."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        """Remember it."""
        nn.Module.__init__(self)
        self._function = function

    def forward(self, x: Any) -> Any:
        """Apply it."""
        return self._function(x)


class Residual(nn.Module):  # type: ignore[misc]  # of no known type
    """A block that is added to what it is given, where the shapes allow it, or joined to it."""

    def __init__(self, block: Any, *, join: bool) -> None:
        """Remember the block."""
        nn.Module.__init__(self)
        self.block, self._join = block, join

    def forward(self, x: Any) -> Any:
        """Apply it."""
        y = self.block(x)
        return torch.cat((x, y), dim=1) if self._join else x + y


class Excitation(nn.Module):  # type: ignore[misc]  # of no known type
    """Channels weighed by their means."""

    def __init__(self, channels: int, gate: Any) -> None:
        """Make both projections."""
        nn.Module.__init__(self)
        self.down = nn.Conv2d(channels, max(1, channels // 4), 1)
        self.up = nn.Conv2d(max(1, channels // 4), channels, 1)
        self.gate = gate

    def forward(self, x: Any) -> Any:
        """Weigh."""
        means = x.mean(dim=(2, 3), keepdim=True)
        return x * self.gate(self.up(functional.relu(self.down(means))))


class SelfAttention(nn.Module):  # type: ignore[misc]  # of no known type
    """Attention over a sequence, written out, by einsum, or as PyTorch computes it."""

    def __init__(self, width: int, heads: int, form: str, *, causal: bool) -> None:
        """Make the projections."""
        nn.Module.__init__(self)
        self.pack = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads, self.form, self.causal = heads, form, causal

    def forward(self, x: Any) -> Any:
        """Attend."""
        batch, length, width = x.shape
        packed = self.pack(x).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = packed.permute(2, 0, 3, 1, 4).unbind(0)
        if self.form == "fused":
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            scale = (width // self.heads) ** -0.5
            if self.form == "einsum":
                scores = torch.einsum("bhid,bhjd->bhij", q, k) * scale
            else:
                scores = (q @ k.transpose(-2, -1)) * scale
            if self.causal:
                mask = torch.ones(length, length, dtype=torch.bool).triu(1)
                scores = scores.masked_fill(mask, float("-inf"))
            y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class First(nn.Module):  # type: ignore[misc]  # of no known type
    """The sequence that a recurrent layer gives, without its states."""

    def __init__(self, layer: Any) -> None:
        """Remember the layer."""
        nn.Module.__init__(self)
        self.layer = layer

    def forward(self, x: Any) -> Any:
        """Run it."""
        y: Any = self.layer(x)[0]
        return y


class Picked(nn.Module):  # type: ignore[misc]  # of no known type
    """Channels in a drawn order, taken by a stored index, or put in place by scatter."""

    def __init__(self, numbers: random.Random, size: int, how: str) -> None:
        """Draw the order."""
        nn.Module.__init__(self)
        order = list(range(size))
        numbers.shuffle(order)
        self.register_buffer("order", torch.tensor(order))
        self.how = how

    def forward(self, x: Any) -> Any:
        """Reorder axis 1."""
        order: Any = self.get_buffer("order")
        if self.how == "select":
            return x.index_select(1, order)
        if self.how == "gather":
            index = order.reshape(1, -1, *[1] * (x.dim() - 2)).expand_as(x)
            return x.gather(1, index)
        if self.how == "scatter":
            index = order.reshape(1, -1, *[1] * (x.dim() - 2)).expand_as(x)
            return torch.zeros_like(x).scatter(1, index, x)
        y = x.clone()
        y[:, order[: max(1, len(order) // 2)]] = 0.5
        return y


class OverPixels(nn.Module):  # type: ignore[misc]  # of no known type
    """A block for sequences, over the pixels of an image."""

    def __init__(self, inner: Any) -> None:
        nn.Module.__init__(self)
        self.inner = inner

    def forward(self, x: Any) -> Any:
        return self.inner(x.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(x.shape)


class ChannelsLast(nn.Module):  # type: ignore[misc]  # of no known type
    """A block for channels that come last."""

    def __init__(self, inner: Any) -> None:
        nn.Module.__init__(self)
        self.inner = inner

    def forward(self, x: Any) -> Any:
        return self.inner(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
