"""The page encoder's operations in plain torch: what the Triton kernels compute, and the CPU's way.

`kernels.py` has the same functions for a GPU; both are held against each other by tests.
"""

from __future__ import annotations

import torch
from torch.nn import functional


def _spread(distances: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """Bias [..., height * width, height * width] from products with relative positions.

    Args:
        distances: [..., height * width, at least 2 * height - 1 + 2 * width - 1]; a query's product
            with the vector of each row distance, then of each column distance, ascending from
            "the key is height - 1 below"; what follows is filling.
        height: of the picture or window, in patches.
        width: likewise.
    """
    device = distances.device
    y, x = torch.arange(height, device=device), torch.arange(width, device=device)
    place_y, place_x = y.repeat_interleave(width), x.repeat(height)
    down = place_y[:, None] - y[None, :] + height - 1
    sideways = place_x[:, None] - x[None, :] + width - 1 + 2 * height - 1
    rows = distances.gather(-1, down.expand(*distances.shape[:-1], height))
    columns = distances.gather(-1, sideways.expand(*distances.shape[:-1], width))
    return (rows[..., :, None] + columns[..., None, :]).flatten(-2)


def global_attention(qkv: torch.Tensor, distances: torch.Tensor, heads: int) -> torch.Tensor:
    """Attention over a whole picture, with decomposed relative positions.

    Args:
        qkv: [pictures, height, width, 3 * heads * dim].
        distances: [pictures, height, width, heads, distances], see `_spread`.
        heads: number of heads.

    Returns:
        [pictures, height, width, heads * dim].
    """
    pictures, height, width, triple = qkv.shape
    q, k, v = qkv.view(pictures, height * width, 3, heads, -1).permute(2, 0, 3, 1, 4)
    bias = _spread(distances.flatten(1, 2).transpose(1, 2), height, width)
    attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    return attended.transpose(1, 2).reshape(pictures, height, width, triple // 3)


def window_attention(
    qkv: torch.Tensor, bias: torch.Tensor, distances: torch.Tensor, heads: int, side: int
) -> torch.Tensor:
    """Attention inside windows of side x side patches, the picture filled up with empty patches.

    Args:
        qkv: [pictures, height, width, 3 * heads * dim].
        bias: [3 * heads * dim]; what qkv is at an empty patch.
        distances: [pictures, height, width, heads, distances], see `_spread`.
        heads: number of heads.
        side: of a window, in patches.

    Returns:
        [pictures, height, width, heads * dim].
    """
    pictures, height, width, triple = qkv.shape
    down, across = -(-height // side), -(-width // side)
    full = bias.to(qkv.dtype).expand(pictures, down * side, across * side, triple).clone()
    full[:, :height, :width] = qkv
    # an empty patch asks nothing that is kept: its own products may be anything
    spread = distances.new_zeros(pictures, down * side, across * side, *distances.shape[3:])
    spread[:, :height, :width] = distances

    def windows(whole: torch.Tensor) -> torch.Tensor:
        cut = whole.view(pictures, down, side, across, side, -1).transpose(2, 3)
        return cut.reshape(pictures * down * across, side, side, -1)

    attended = global_attention(windows(full), windows(spread).unflatten(-1, (heads, -1)), heads)
    joined = attended.view(pictures, down, across, side, side, -1).transpose(2, 3)
    whole = joined.reshape(pictures, down * side, across * side, -1)
    return whole[:, :height, :width].contiguous()


def prefix_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor], dim: int
) -> torch.Tensor:
    """Attention with rotary positions: the second half sees its own past, all see the first half.

    Args:
        query: [pictures, length, heads * dim].
        key: [pictures, length, kv_heads * dim].
        value: like key.
        turn: cosines and sines of the rotary positions, float32 [length, dim / 2].
        dim: of a head.

    Returns:
        Like query.
    """
    length = query.shape[1]
    place = torch.arange(length, device=query.device)
    seen = (place < length // 2)[None, :] | (place[None, :] <= place[:, None])
    cos, sin = (table.repeat(1, 2) for table in turn)

    def heads(rows: torch.Tensor) -> torch.Tensor:
        return rows.unflatten(-1, (-1, dim)).transpose(1, 2)

    def turned(rows: torch.Tensor) -> torch.Tensor:
        wide = heads(rows).float()
        first, second = wide.chunk(2, dim=-1)
        return (wide * cos + torch.cat([-second, first], dim=-1) * sin).to(rows.dtype)

    attended = functional.scaled_dot_product_attention(
        turned(query), turned(key), heads(value), attn_mask=seen, enable_gqa=True
    )
    return attended.transpose(1, 2).reshape(query.shape)


def add_norm(
    stream: torch.Tensor, change: torch.Tensor | None, weight: torch.Tensor, bias: torch.Tensor | None, eps: float
) -> torch.Tensor:
    """Add `change` to `stream`, in place, and return it normalised over the last dimension.

    Args:
        stream: residual stream [..., width].
        change: like stream, or None for nothing.
        weight: [width].
        bias: [width] for LayerNorm; None for RMSNorm.
        eps: of the norm.
    """
    if change is not None:
        stream += change
    if bias is None:
        return functional.rms_norm(stream, weight.shape, weight, eps)
    return functional.layer_norm(stream, weight.shape, weight, bias, eps)


def silu_product(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """silu(gate) * up."""
    return functional.silu(gate) * up
