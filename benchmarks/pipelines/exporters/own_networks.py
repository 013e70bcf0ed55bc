"""Small networks of kinds that no package above has: speech, robotics, graphs, tables.

A function each returns a module, what it is called with, and the names of inputs and outputs. They
are written after the structure that is public of each kind, not after anyone's code.
"""

from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
nn: Any = torch.nn
F: Any = torch.nn.functional

Made = tuple[Any, tuple[Any, ...], tuple[list[str], list[str]]]


class _Module(nn.Module):  # type: ignore[misc]  # of no known type
    """Parts by name, and a function of them."""

    def __init__(self, call: Any, **parts: Any) -> None:
        """Take the parts."""
        nn.Module.__init__(self)
        for name, part in parts.items():
            setattr(self, name, part)
        self.call = call

    def forward(self, *args: Any) -> Any:
        """Call the function."""
        return self.call(self, *args)


def conformer() -> Made:
    """Attention with relative positions and a mask of lengths, convolution, feed-forward."""

    def call(m: Any, x: Any, lengths: Any) -> Any:
        x = m.sub(x.transpose(1, 2)).transpose(1, 2)
        t = x.shape[1]
        mask = torch.arange(t, device=x.device)[None, :] < (lengths // 2)[:, None]
        x = x + 0.5 * m.ff1(x)
        h = m.norm(x)
        b, d = h.shape[0], h.shape[2]
        q, k, v = m.qkv(h).reshape(b, t, 3, 4, d // 4).permute(2, 0, 3, 1, 4).unbind(0)
        at = torch.arange(t, device=x.device)
        index = (at[:, None] - at[None, :]).clamp(-8, 8) + 8
        scores = q @ k.transpose(-1, -2) / (d // 4) ** 0.5 + m.relative(index).permute(2, 0, 1)
        scores = scores.masked_fill(~mask[:, None, None, :], -1e4)
        x = x + m.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
        h = F.glu(m.point(m.norm2(x).transpose(1, 2)), 1)
        x = x + m.point2(F.silu(m.batch(m.depth(h)))).transpose(1, 2)
        return m.last(x + 0.5 * m.ff2(x)).log_softmax(-1), mask.sum(1)

    def feed() -> Any:
        return nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 32))

    module = _Module(
        call,
        sub=nn.Conv1d(16, 32, 3, 2, 1),
        ff1=feed(),
        ff2=feed(),
        norm=nn.LayerNorm(32),
        norm2=nn.LayerNorm(32),
        qkv=nn.Linear(32, 96),
        relative=nn.Embedding(17, 4),
        out=nn.Linear(32, 32),
        point=nn.Conv1d(32, 64, 1),
        depth=nn.Conv1d(32, 32, 7, 1, 3, groups=32),
        batch=nn.BatchNorm1d(32),
        point2=nn.Conv1d(32, 32, 1),
        last=nn.Linear(32, 12),
    )
    args = (torch.randn(2, 24, 16), torch.tensor([24, 16]))
    return module, args, (["features", "lengths"], ["logits", "counts"])


def zipformer() -> Made:
    """Down and up in time around attention, a bypass, swoosh activations, a cache of chunks."""

    def swoosh(x: Any) -> Any:
        return F.softplus(x - 4.0) - 0.08 * x - 0.035

    def call(m: Any, x: Any, cache: Any) -> Any:
        x = torch.cat((cache, m.embed(x)), 1)
        new = x[:, -4:]
        whole = x
        b, t, d = x.shape
        x = (x.reshape(b, t // 2, 2, d) * m.weights.softmax(0)[None, None, :, None]).sum(2)
        h = m.first(x)
        weights = (m.query(h) @ m.key(h).transpose(1, 2) / 4.0).softmax(-1)
        x = x + weights @ m.value(h)
        x = x + m.down(swoosh(m.up(x)))
        x = x * (x.pow(2).mean(-1, keepdim=True) + 1e-4).rsqrt() * m.scale.exp()
        x = x.repeat_interleave(2, 1)
        return m.last(whole + (x - whole) * m.bypass.clamp(0.2, 1.0)), new

    module = _Module(
        call,
        embed=nn.Linear(16, 32),
        weights=nn.Parameter(torch.randn(2)),
        first=nn.Linear(32, 32),
        query=nn.Linear(32, 16),
        key=nn.Linear(32, 16),
        value=nn.Linear(32, 32),
        up=nn.Linear(32, 64),
        down=nn.Linear(64, 32),
        scale=nn.Parameter(torch.zeros(1)),
        bypass=nn.Parameter(torch.rand(32)),
        last=nn.Linear(32, 12),
    )
    args = (torch.randn(1, 12, 16), torch.zeros(1, 4, 32))
    return module, args, (["x", "cache"], ["logits", "new_cache"])


def hifigan() -> Made:
    """A vocoder: transposed convolutions and dilated residual blocks."""

    def call(m: Any, x: Any) -> Any:
        x = m.pre(x)
        for up, rest in zip(m.ups, m.rests, strict=True):
            x = up(F.leaky_relu(x, 0.1))
            x = sum(r(F.leaky_relu(x, 0.1)) + x for r in rest) / 2
        return torch.tanh(m.post(F.leaky_relu(x)))

    module = _Module(
        call,
        pre=nn.Conv1d(20, 32, 7, 1, 3),
        ups=nn.ModuleList(nn.ConvTranspose1d(c, c // 2, 8, 4, 2) for c in (32, 16)),
        rests=nn.ModuleList(
            nn.ModuleList(nn.Conv1d(c, c, 3, 1, d, d) for d in (1, 3)) for c in (16, 8)
        ),
        post=nn.Conv1d(8, 1, 7, 1, 3),
    )
    return module, (torch.randn(1, 20, 10),), (["mel"], ["audio"])


def vocos() -> Made:
    """A vocoder that ends in an inverse Fourier transform written as a product."""

    def call(m: Any, x: Any) -> Any:
        x = m.embed(x)
        x = x + m.two(F.gelu(m.one(m.norm(m.depth(x).transpose(1, 2))))).transpose(1, 2)
        mag, phase = m.head(x.transpose(1, 2)).chunk(2, -1)
        mag = mag.exp().clamp(max=100.0)
        frames = mag * phase.cos() @ m.real + mag * phase.sin() @ m.imaginary
        b, t, n = frames.shape
        folded = F.fold(frames.transpose(1, 2), (1, (t - 1) * 4 + n), (1, n), stride=(1, 4))
        return folded.reshape(b, -1)

    module = _Module(
        call,
        embed=nn.Conv1d(20, 32, 7, 1, 3),
        depth=nn.Conv1d(32, 32, 7, 1, 3, groups=32),
        norm=nn.LayerNorm(32),
        one=nn.Linear(32, 64),
        two=nn.Linear(64, 32),
        head=nn.Linear(32, 18),
        real=nn.Parameter(torch.randn(9, 16)),
        imaginary=nn.Parameter(torch.randn(9, 16)),
    )
    return module, (torch.randn(1, 20, 10),), (["mel"], ["audio"])


def transducer() -> Made:
    """A prediction network of LSTM and a joiner, with states as inputs and outputs."""

    def call(m: Any, encoded: Any, token: Any, h: Any, c: Any) -> Any:
        out, (h, c) = m.lstm(m.embed(token), (h, c))
        joined = torch.tanh(m.left(encoded)[:, :, None] + m.right(out)[:, None])
        return m.last(joined).log_softmax(-1), h, c

    module = _Module(
        call,
        embed=nn.Embedding(30, 16),
        lstm=nn.LSTM(16, 24, 2, batch_first=True),
        left=nn.Linear(16, 24),
        right=nn.Linear(24, 24),
        last=nn.Linear(24, 30),
    )
    state = torch.zeros(2, 1, 24)
    args = (torch.randn(1, 5, 16), torch.randint(0, 30, (1, 3)), state, state.clone())
    return module, args, (["encoded", "token_ids", "h", "c"], ["logits", "new_h", "new_c"])


def vad() -> Made:
    """Voice activity: a short Fourier transform as a convolution, then a GRU with its state."""

    def call(m: Any, audio: Any, state: Any) -> Any:
        x = F.pad(audio[:, None], (32, 32), mode="reflect")
        x = F.conv1d(x, m.basis, stride=16)
        x = (x[:, :17] ** 2 + x[:, 17:] ** 2).sqrt()
        x, state = m.gru(m.conv(torch.log1p(x)).relu().transpose(1, 2), state)
        return torch.sigmoid(m.last(x[:, -1])), state

    module = _Module(
        call,
        basis=nn.Parameter(torch.randn(34, 1, 64)),
        conv=nn.Conv1d(17, 16, 3, 1, 1),
        gru=nn.GRU(16, 16, batch_first=True),
        last=nn.Linear(16, 1),
    )
    args = (torch.randn(1, 256), torch.zeros(1, 1, 16))
    return module, args, (["audio", "state"], ["speech", "new_state"])


def action_chunks() -> Made:
    """A policy after ACT: image and joints to tokens, queries, a chunk of actions."""

    def call(m: Any, joints: Any, image: Any) -> Any:
        seen = m.back(image).flatten(2).transpose(1, 2)
        tokens = torch.cat(
            (m.latent.expand(joints.shape[0], 1, 32), m.joint(joints)[:, None], seen), 1
        )
        memory = m.encoder(tokens)
        queries = m.queries.weight[None].expand(joints.shape[0], 10, 32)
        return m.action(m.decoder(queries, memory))

    module = _Module(
        call,
        back=nn.Sequential(
            nn.Conv2d(3, 16, 7, 4, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 4, 1)
        ),
        latent=nn.Parameter(torch.zeros(1, 1, 32)),
        joint=nn.Linear(7, 32),
        encoder=nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 1),
        decoder=nn.TransformerDecoder(nn.TransformerDecoderLayer(32, 4, 64, batch_first=True), 1),
        queries=nn.Embedding(10, 32),
        action=nn.Linear(32, 7),
    )
    args = (torch.randn(1, 7), torch.rand(1, 3, 64, 64))
    return module, args, (["joints", "image"], ["actions"])


def diffusion_policy() -> Made:
    """A 1D U-Net conditioned on a step and an observation by scale and shift."""

    def block(m: Any, x: Any, conv: Any, film: Any, norm: Any, c: Any) -> Any:
        scale, shift = film(c)[:, :, None].chunk(2, 1)
        return F.mish(norm(conv(x))) * (scale + 1) + shift

    def call(m: Any, sample: Any, timestep: Any, observation: Any) -> Any:
        at = timestep[:, None].float() * torch.exp(torch.arange(8, device=sample.device) * -0.6)
        c = m.cond(torch.cat((at.sin(), at.cos(), observation), -1))
        x = sample.transpose(1, 2)
        first = block(m, x, m.c1, m.f1, m.n1, c)
        x = block(m, m.down(first), m.c2, m.f2, m.n2, c)
        x = torch.cat((m.up(x), first), 1)
        return m.last(x).transpose(1, 2)

    module = _Module(
        call,
        cond=nn.Sequential(nn.Linear(22, 32), nn.Mish(), nn.Linear(32, 32)),
        c1=nn.Conv1d(2, 16, 5, 1, 2),
        c2=nn.Conv1d(16, 32, 5, 1, 2),
        f1=nn.Linear(32, 32),
        f2=nn.Linear(32, 64),
        n1=nn.GroupNorm(4, 16),
        n2=nn.GroupNorm(4, 32),
        down=nn.Conv1d(16, 16, 3, 2, 1),
        up=nn.ConvTranspose1d(32, 16, 4, 2, 1),
        last=nn.Conv1d(32, 2, 1),
    )
    args = (torch.randn(1, 16, 2), torch.tensor([3]), torch.randn(1, 6))
    return module, args, (["sample", "timestep", "observation"], ["noise"])


def walking_policy() -> Made:
    """A policy of an actor with observation normalization and a clamp, as simulators export it."""

    def call(m: Any, observation: Any) -> Any:
        x = ((observation - m.mean) / (m.var + 1e-5).sqrt()).clamp(-5, 5)
        return torch.tanh(m.net(x))

    net = nn.Sequential(nn.Linear(48, 64), nn.ELU(), nn.Linear(64, 32), nn.ELU(), nn.Linear(32, 12))
    parts = {"mean": nn.Parameter(torch.randn(48)), "var": nn.Parameter(torch.rand(48)), "net": net}
    return _Module(call, **parts), (torch.randn(1, 48),), (["observation"], ["actions"])


def graph_convolution() -> Made:
    """Messages gathered along edges and added up at nodes."""

    def call(m: Any, x: Any, edge_ids: Any) -> Any:
        source, into = edge_ids[0], edge_ids[1]
        h = m.first(x).relu()
        sent = m.message(torch.cat((h[source], h[into]), -1)).relu()
        zero = torch.zeros(h.shape[0], sent.shape[1], dtype=sent.dtype, device=sent.device)
        summed = zero.index_add(0, into, sent)
        return m.last(torch.cat((h, summed), -1))

    module = _Module(call, first=nn.Linear(8, 16), message=nn.Linear(32, 16), last=nn.Linear(32, 3))
    args = (torch.randn(120, 8), torch.randint(0, 120, (2, 40)))
    return module, args, (["x", "edge_ids"], ["classes"])


def graph_attention() -> Made:
    """Attention over a dense adjacency."""

    def call(m: Any, x: Any, adjacency_mask: Any) -> Any:
        h = m.first(x)
        scores = F.leaky_relu(m.left(h) + m.right(h).transpose(1, 2), 0.2)
        scores = torch.where(adjacency_mask > 0, scores, torch.full_like(scores, -1e9))
        return F.elu(scores.softmax(-1) @ h)

    module = _Module(call, first=nn.Linear(8, 16), left=nn.Linear(16, 1), right=nn.Linear(16, 1))
    args = (torch.randn(1, 12, 8), torch.ones(1, 12, 12))
    return module, args, (["x", "adjacency_mask"], ["features"])


def tabular_transformer() -> Made:
    """Columns as tokens, a transformer on top."""

    def call(m: Any, numbers: Any, category_ids: Any) -> Any:
        tokens = torch.cat((numbers[:, :, None] * m.weight + m.bias, m.embed(category_ids % 10)), 1)
        tokens = torch.cat((m.cls.expand(tokens.shape[0], 1, 16), tokens), 1)
        return m.last(F.relu(m.norm(m.encoder(tokens)[:, 0])))

    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True)
    module = _Module(
        call,
        weight=nn.Parameter(torch.randn(5, 16)),
        bias=nn.Parameter(torch.randn(5, 16)),
        embed=nn.Embedding(10, 16),
        cls=nn.Parameter(torch.randn(1, 1, 16)),
        encoder=nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
        norm=nn.LayerNorm(16),
        last=nn.Linear(16, 2),
    )
    args = (torch.randn(3, 5), torch.randint(0, 10, (3, 4)))
    return module, args, (["numbers", "category_ids"], ["logits"])


def crnn() -> Made:
    """Text recognition: convolutions, a bidirectional LSTM, classes per column."""

    def call(m: Any, image: Any) -> Any:
        x = m.convs(image).mean(2).permute(0, 2, 1)
        return m.last(m.lstm(x)[0]).log_softmax(-1)

    convs = nn.Sequential(
        nn.Conv2d(1, 16, 3, 1, 1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, 1, 1),
        nn.ReLU(),
        nn.MaxPool2d((2, 1)),
    )
    lstm = nn.LSTM(32, 24, bidirectional=True, batch_first=True)
    module = _Module(call, convs=convs, lstm=lstm, last=nn.Linear(48, 20))
    return module, (torch.rand(1, 1, 32, 64),), (["image"], ["logits"])


def matching() -> Made:
    """Keypoints after SuperPoint: a grid of scores, descriptors sampled at the best."""

    def call(m: Any, image: Any) -> Any:
        x = m.back(image)
        scores = F.pixel_shuffle(m.score(x).softmax(1)[:, :-1], 4)
        best = F.max_pool2d(scores, 5, 1, 2)
        scores = torch.where(scores == best, scores, torch.zeros_like(scores))
        values, at = scores.flatten(1).topk(20)
        w = scores.shape[3]
        points = torch.stack((at % w, at // w), -1).float()
        grid = points[:, None] / (w - 1) * 2 - 1
        found = F.grid_sample(m.describe(x), grid, align_corners=True)[:, :, 0]
        return points, values, F.normalize(found, dim=1)

    back = nn.Sequential(
        nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU()
    )
    module = _Module(call, back=back, score=nn.Conv2d(32, 17, 1), describe=nn.Conv2d(32, 24, 1))
    return module, (torch.rand(1, 1, 48, 48),), (["image"], ["points", "scores", "descriptors"])
