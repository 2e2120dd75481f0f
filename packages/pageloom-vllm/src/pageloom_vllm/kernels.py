"""Triton kernels of the page encoder. What each computes is said, in torch, in `reference.py`.

All of them read and write where the linear layers left the numbers: no window is cut out, no
head is moved to the front, no bias is written to memory. Products and sums are float32, rounded
once where they are stored.
"""

# mypy: disable-error-code="untyped-decorator, import-not-found"
from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)  # softmax is computed with powers of two


@triton.jit
def _fold(scores, value, best, total, sums):  # type: ignore[no-untyped-def]
    """One step of the running softmax: take in a block of scores and its values."""
    next_best = tl.maximum(best, tl.max(scores, axis=1))
    weight = tl.math.exp2(scores - next_best[:, None])
    fade = tl.math.exp2(best - next_best)
    total = total * fade + tl.sum(weight, axis=1)
    sums = tl.dot(weight.to(value.dtype), value, sums * fade[:, None])
    return next_best, total, sums


@triton.jit
def _window_kernel(  # type: ignore[no-untyped-def]
    qkv,
    bias,
    distances,
    out,
    height,
    width,
    scale,
    HEADS: tl.constexpr,
    DIM: tl.constexpr,
    SIDE: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    across = tl.cdiv(width, SIDE)
    windows = across * tl.cdiv(height, SIDE)
    picture, window = tl.program_id(0) // windows, tl.program_id(0) % windows
    top, left = (window // across) * SIDE, (window % across) * SIDE
    head = tl.program_id(1)
    first = picture.to(tl.int64) * height * width
    dim = tl.arange(0, DIM)
    row: tl.constexpr = 3 * HEADS * DIM
    m = tl.program_id(2) * BLOCK_M + tl.arange(0, BLOCK_M)
    m_y, m_x = m // SIDE, m % SIDE
    m_in = (m < SIDE * SIDE) & (top + m_y < height) & (left + m_x < width)
    m_at = first + (top + m_y) * width + left + m_x
    q = tl.load(qkv + m_at[:, None] * row + head * DIM + dim[None, :], mask=m_in[:, None], other=0.0)
    # bias of a key = products[row distance] + products[column distance]: 16 + 16 columns that a
    # one-hot matrix adds up, so that the tensor cores do it
    column = tl.arange(0, 32)
    along, place = column // 16, column % 16
    distance = tl.where(along[None, :] == 0, m_y[:, None], m_x[:, None]) - place[None, :]
    distance += SIDE - 1 + along[None, :] * (2 * SIDE - 1)
    line = (m_at * HEADS + head)[:, None] * PITCH
    rel = tl.load(distances + line + distance, mask=m_in[:, None] & (place < SIDE)[None, :], other=0.0)
    key_bias = tl.load(bias + (HEADS + head) * DIM + dim)
    value_bias = tl.load(bias + (2 * HEADS + head) * DIM + dim)
    best = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    sums = tl.zeros([BLOCK_M, DIM], tl.float32)
    for start in range(0, SIDE * SIDE, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        n_y, n_x = n // SIDE, n % SIDE
        n_used = n < SIDE * SIDE
        n_in = n_used & (top + n_y < height) & (left + n_x < width)
        n_at = (first + (top + n_y) * width + left + n_x) * row + head * DIM
        # beyond the picture's edge the model sees zeros, which the linear layer makes its bias
        key = tl.load(qkv + n_at[None, :] + HEADS * DIM + dim[:, None], mask=n_in[None, :], other=0.0)
        key = tl.where(n_in[None, :], key, key_bias[:, None])
        value = tl.load(qkv + n_at[:, None] + 2 * HEADS * DIM + dim[None, :], mask=n_in[:, None], other=0.0)
        value = tl.where(n_in[:, None], value, value_bias[None, :])
        picked = tl.where(along[:, None] == 0, n_y[None, :], n_x[None, :]) == place[:, None]
        scores = tl.dot(q, key) * (scale * LOG2E) + tl.dot(rel, picked.to(rel.dtype)) * LOG2E
        scores = tl.where(n_used[None, :], scores, -float("inf"))
        best, total, sums = _fold(scores, value, best, total, sums)
    done = (sums / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + m_at[:, None] * (HEADS * DIM) + head * DIM + dim[None, :], done, mask=m_in[:, None])


@triton.jit
def _global_kernel(  # type: ignore[no-untyped-def]
    qkv,
    distances,
    out,
    scale,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    HEADS: tl.constexpr,
    DIM: tl.constexpr,
    PITCH: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    picture, head = tl.program_id(1).to(tl.int64), tl.program_id(2)
    first = picture * HEIGHT * WIDTH
    dim = tl.arange(0, DIM)
    row: tl.constexpr = 3 * HEADS * DIM
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    m_in = m < HEIGHT * WIDTH
    q = tl.load(qkv + (first + m)[:, None] * row + head * DIM + dim[None, :], mask=m_in[:, None], other=0.0)
    n = tl.arange(0, BLOCK_N)
    n_in = n < WIDTH
    line = distances + ((first + m) * HEADS + head) * PITCH
    # one step takes one row of the picture: the columns' bias stays in registers for all of them
    sideways = (m % WIDTH)[:, None] - n[None, :] + WIDTH - 1 + 2 * HEIGHT - 1
    both_in = m_in[:, None] & n_in[None, :]
    columns = tl.load(line[:, None] + sideways, mask=both_in, other=0.0).to(tl.float32) * LOG2E
    columns = tl.where(n_in[None, :], columns, -float("inf"))
    downwards = line + m // WIDTH + HEIGHT - 1
    best = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    sums = tl.zeros([BLOCK_M, DIM], tl.float32)
    at = qkv + first * row + (HEADS + head) * DIM
    keys = at + n[None, :] * row + dim[:, None]
    values = at + HEADS * DIM + n[:, None] * row + dim[None, :]
    for y in range(HEIGHT):
        key = tl.load(keys + y * WIDTH * row, mask=n_in[None, :], other=0.0)
        value = tl.load(values + y * WIDTH * row, mask=n_in[:, None], other=0.0)
        rows = tl.load(downwards - y, mask=m_in, other=0.0).to(tl.float32) * LOG2E
        scores = tl.dot(q, key) * (scale * LOG2E) + (columns + rows[:, None])
        best, total, sums = _fold(scores, value, best, total, sums)
    done = (sums / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + (first + m)[:, None] * (HEADS * DIM) + head * DIM + dim[None, :], done, mask=m_in[:, None])


@triton.jit
def _turned(pointer, cosine, sine, at, inside, half, HALF: tl.constexpr):  # type: ignore[no-untyped-def]
    """Rows of queries or keys after rotary positions, as two halves [rows, HALF]."""
    mask = inside[:, None]
    first = tl.load(pointer + half[None, :], mask=mask, other=0.0).to(tl.float32)
    second = tl.load(pointer + HALF + half[None, :], mask=mask, other=0.0).to(tl.float32)
    cos = tl.load(cosine + at[:, None] * HALF + half[None, :], mask=mask, other=0.0)
    sin = tl.load(sine + at[:, None] * HALF + half[None, :], mask=mask, other=0.0)
    return first * cos - second * sin, second * cos + first * sin


@triton.jit
def _prefix_kernel(  # type: ignore[no-untyped-def]
    query,
    key,
    value,
    cosine,
    sine,
    out,
    scale,
    LENGTH: tl.constexpr,
    HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    HALF: tl.constexpr = DIM // 2
    PREFIX: tl.constexpr = LENGTH // 2
    first = tl.program_id(1).to(tl.int64) * LENGTH
    head = tl.program_id(2)
    kv_head = head // (HEADS // KV_HEADS)
    half, dim = tl.arange(0, HALF), tl.arange(0, DIM)
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    m_in = m < LENGTH
    rows = query + (first + m)[:, None] * (HEADS * DIM) + head * DIM
    q0, q1 = _turned(rows, cosine, sine, m, m_in, half, HALF)
    dtype = value.dtype.element_ty
    q0, q1 = q0.to(dtype), q1.to(dtype)
    best = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    sums = tl.zeros([BLOCK_M, DIM], tl.float32)
    # picture rows see the picture; query rows see it and the queries up to themselves
    end = tl.minimum((tl.program_id(0) + 1) * BLOCK_M, LENGTH)
    end = tl.maximum(end, PREFIX)
    for start in range(0, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        n_in = n < LENGTH
        lines = (first + n)[:, None] * (KV_HEADS * DIM) + kv_head * DIM
        k0, k1 = _turned(key + lines, cosine, sine, n, n_in, half, HALF)
        v = tl.load(value + lines + dim[None, :], mask=n_in[:, None], other=0.0)
        scores = tl.dot(q0, tl.trans(k0.to(dtype))) + tl.dot(q1, tl.trans(k1.to(dtype)))
        seen = n_in[None, :] & ((n < PREFIX)[None, :] | (n[None, :] <= m[:, None]))
        # every row sees key 0, in the first block: no row is ever all -inf
        scores = tl.where(seen, scores * (scale * LOG2E), -float("inf"))
        best, total, sums = _fold(scores, v, best, total, sums)
    done = (sums / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + (first + m)[:, None] * (HEADS * DIM) + head * DIM + dim[None, :], done, mask=m_in[:, None])


@triton.jit
def _add_norm_kernel(  # type: ignore[no-untyped-def]
    stream,
    change,
    weight,
    bias,
    normed,
    eps,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    CENTRED: tl.constexpr,
    CHANGED: tl.constexpr,
):
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    at = tl.program_id(0).to(tl.int64) * WIDTH + column
    x = tl.load(stream + at, mask=inside, other=0.0)
    if CHANGED:
        x = (x.to(tl.float32) + tl.load(change + at, mask=inside, other=0.0).to(tl.float32)).to(x.dtype)
        tl.store(stream + at, x, mask=inside)
    x = x.to(tl.float32)
    gain = tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    if CENTRED:
        x = tl.where(inside, x - tl.sum(x, axis=0) / WIDTH, 0.0)
    y = x / tl.sqrt(tl.sum(x * x, axis=0) / WIDTH + eps) * gain
    if CENTRED:
        y += tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(normed + at, y.to(normed.dtype.element_ty), mask=inside)


@triton.jit
def _silu_product_kernel(gate, up, out, size, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    g = tl.load(gate + at, mask=inside, other=0.0).to(tl.float32)
    u = tl.load(up + at, mask=inside, other=0.0).to(tl.float32)
    product = g / (1.0 + tl.exp(-g)) * u
    tl.store(out + at, product.to(out.dtype.element_ty), mask=inside)


# Block sizes, warps and stages; found on an H200 by benchmarks/gpu (`--only tune`).
SHAPES = {
    "window": dict(BLOCK_M=64, BLOCK_N=32, num_warps=4, num_stages=3),
    "global": dict(BLOCK_M=64, num_warps=4, num_stages=3),
    "prefix": dict(BLOCK_M=64, BLOCK_N=64, num_warps=4, num_stages=2),
}


def window_attention(
    qkv: torch.Tensor, bias: torch.Tensor, distances: torch.Tensor, heads: int, side: int
) -> torch.Tensor:
    """See `reference.window_attention`."""
    pictures, height, width, triple = qkv.shape
    out = qkv.new_empty(pictures, height, width, triple // 3)
    dim = triple // 3 // heads
    shape = SHAPES["window"]
    windows = triton.cdiv(height, side) * triton.cdiv(width, side)
    grid = (pictures * windows, heads, triton.cdiv(side * side, shape["BLOCK_M"]))
    _window_kernel[grid](
        *(qkv, bias, distances, out, height, width, dim**-0.5),
        **dict(HEADS=heads, DIM=dim, SIDE=side, PITCH=distances.shape[-1]),
        **shape,
    )
    return out


def global_attention(qkv: torch.Tensor, distances: torch.Tensor, heads: int) -> torch.Tensor:
    """See `reference.global_attention`."""
    pictures, height, width, triple = qkv.shape
    out = qkv.new_empty(pictures, height, width, triple // 3)
    dim = triple // 3 // heads
    shape = SHAPES["global"]
    grid = (triton.cdiv(height * width, shape["BLOCK_M"]), pictures, heads)
    _global_kernel[grid](
        *(qkv, distances, out, dim**-0.5),
        **dict(HEIGHT=height, WIDTH=width, HEADS=heads, DIM=dim, PITCH=distances.shape[-1]),
        **dict(BLOCK_N=triton.next_power_of_2(width)),
        **shape,
    )
    return out


def prefix_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor], dim: int
) -> torch.Tensor:
    """See `reference.prefix_attention`."""
    pictures, length, width = query.shape
    out = torch.empty_like(query)
    shape = SHAPES["prefix"]
    grid = (triton.cdiv(length, shape["BLOCK_M"]), pictures, width // dim)
    _prefix_kernel[grid](
        *(query, key, value, *turn, out, dim**-0.5),
        **dict(LENGTH=length, HEADS=width // dim, KV_HEADS=key.shape[-1] // dim, DIM=dim),
        **shape,
    )
    return out


def add_norm(
    stream: torch.Tensor, change: torch.Tensor | None, weight: torch.Tensor, bias: torch.Tensor | None, eps: float
) -> torch.Tensor:
    """See `reference.add_norm`."""
    width = stream.shape[-1]
    normed = torch.empty_like(stream)
    _add_norm_kernel[(stream.numel() // width,)](
        *(stream, stream if change is None else change, weight, weight if bias is None else bias),
        *(normed, eps),
        **dict(WIDTH=width, BLOCK=triton.next_power_of_2(width)),
        **dict(CENTRED=bias is not None, CHANGED=change is not None),
        num_warps=4,
    )
    return normed


def silu_product(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """See `reference.silu_product`."""
    out = torch.empty_like(gate)
    _silu_product_kernel[(triton.cdiv(gate.numel(), 2048),)](gate, up, out, gate.numel(), BLOCK=2048, num_warps=8)
    return out
