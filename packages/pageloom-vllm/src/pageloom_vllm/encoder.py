"""DeepSeek-OCR-2's vision tower, for all pages of a step at once.

The stock tower encodes page by page, and each page in two calls. Here the tiles of all pages go
through together, then their global views, in portions that fit the memory. Nothing is computed
otherwise than the model says; what differs is where numbers lie between the operations:

* SAM's windows and their filling are never cut out; attention reads the picture as it lies. So
  the linear layers before and after see 48 x 48 patches of a tile instead of 56 x 56.
* Relative positions are one product with all distances per query, added inside the attention;
  the bias of every pair of patches is never written (1.2 GB a layer and page).
* The Qwen2 encoder's mask is a rule, not a matrix.
* Pixels arrive as bytes; normalising them is a table with 256 entries.

The host waits for the GPU nowhere. The module calls the stock modules' own linear layers, so
weights, loading and quantisation stay vLLM's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from pageloom_vllm import reference

TILE_PX, VIEW_PX, PATCH_PX = 768, 1024, 16
MEAN = DEVIATION = 0.5  # of the pixels, 0 to 1; processor_config.json of DeepSeek-OCR-2
# bytes a patch of SAM holds at its widest, in units of width * element size: the residual stream,
# its norm, the MLP's hidden layer before and after GELU, and what the allocator keeps besides
PATCH_WIDTHS = 14


def operations(device: torch.device) -> Any:  # noqa: ANN401 - a module, either of two with the same functions
    """Triton kernels where they run, plain torch elsewhere."""
    if device.type != "cuda":
        return reference
    try:
        from pageloom_vllm import kernels
    except ImportError:
        return reference
    return kernels


def normalised_levels() -> torch.Tensor:
    """Value of each of the 256 grey levels, float32; in the very steps of the stock processor."""
    return (torch.arange(256, dtype=torch.float32) / 255 - MEAN) / DEVIATION


class PageEncoder:
    """Encodes pages with the modules of vLLM's DeepSeek-OCR-2; holds no weights of its own.

    Args:
        model: has `sam_model`, `qwen2_model`, `projector`, `view_seperator` as vLLM names them.
    """

    def __init__(self, model: nn.Module) -> None:
        self.sam: Any = model.sam_model
        self.qwen: Any = model.qwen2_model
        self.projector: Any = model.projector
        self.model: Any = model
        self._kept: dict[Any, tuple[int, torch.Tensor]] = {}
        self._turns: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._table: torch.Tensor | None = None
        self._patches_at_once = 0
        self._graphs: dict[int, Any] = {}  # by side in pixels; see `record`

    # -- pages ---------------------------------------------------------------------------------

    def encode(self, views: torch.Tensor, tiles: torch.Tensor, tiles_per_page: Sequence[int]) -> list[torch.Tensor]:
        """Visual tokens of pages.

        Args:
            views: the pages' global views; uint8 [pages, 1024, 1024, 3], or already normalised
                [pages, 3, 1024, 1024].
            tiles: the tiles of all pages, one page after another; likewise, 768 x 768.
            tiles_per_page: how many of the tiles are each page's; 0 for a small picture.

        Returns:
            Per page [144 * tiles + 256 + 1, width]: tiles, global view, separator.
        """
        whole = self._pictures(views)
        parts = self._pictures(tiles) if len(tiles) else whole[:0, :1]
        end = self.model.view_seperator[None, :].to(whole.dtype)
        pages, first = [], 0
        for page, count in enumerate(tiles_per_page):
            local = parts[first : first + count].flatten(0, 1)
            pages.append(torch.cat([local, whole[page], end]))
            first += count
        return pages

    def _pictures(self, pixels: torch.Tensor) -> torch.Tensor:
        """Visual tokens [pictures, tokens, width] of pictures of one size."""
        side = pixels.shape[2] // PATCH_PX  # both layouts have a side of the square in place 2
        at_once = max(1, self._portion(pixels.device) // side**2)
        graphs = self._graphs.get(pixels.shape[2]) if pixels.dtype == torch.uint8 else None
        done = []
        while len(pixels):
            if graphs:
                count = graphs.step(len(pixels))
                # copied: the next portion is written to the same place
                done.append(graphs(pixels[:count]).clone())
            else:
                count = at_once
                done.append(self._portion_of_pictures(pixels[:count]))
            pixels = pixels[count:]
        return done[0] if len(done) == 1 else torch.cat(done)

    def _portion_of_pictures(self, pixels: torch.Tensor) -> torch.Tensor:
        do = operations(pixels.device)
        projected: torch.Tensor = self.projector(self._queries(self._sam(self._patches(pixels), do), do))
        return projected

    def record(self) -> None:
        """On a GPU: record the work as CUDA graphs, for pages that come alone or a few together.

        A page is 850 kernels: started one by one, a slow host needs longer for them than the GPU.
        """
        device = self.sam.pos_embed.device
        if device.type != "cuda":
            return
        from pageloom_vllm.graphs import Graphs

        pool = torch.cuda.graph_pool_handle()
        for side_px, counts in ((TILE_PX, (24, 12, 6, 4, 3, 2)), (VIEW_PX, (4, 2, 1))):
            most = max(1, self._portion(device) // (side_px // PATCH_PX) ** 2)
            fitting = [count for count in counts if count <= most]
            self._graphs[side_px] = Graphs(self._portion_of_pictures, side_px, fitting, device, pool)

    def _portion(self, device: torch.device) -> int:
        """How many patches to hold at once: an eighth of a GPU's memory, at most 4 GiB."""
        if not self._patches_at_once:
            weight = self.sam.patch_embed.proj.weight
            size = 4 << 30
            if device.type == "cuda":
                size = min(size, torch.cuda.get_device_properties(device).total_memory // 16)
            self._patches_at_once = size // (PATCH_WIDTHS * weight.shape[0] * weight.element_size())
        return self._patches_at_once

    # -- pixels --------------------------------------------------------------------------------

    def _patches(self, pixels: torch.Tensor) -> torch.Tensor:
        """Embedded patches [pictures, side, side, width], with positions."""
        projection = self.sam.patch_embed.proj
        weight = projection.weight
        if pixels.dtype == torch.uint8:
            pictures, side = pixels.shape[0], pixels.shape[1] // PATCH_PX
            cut = pixels.view(pictures, side, PATCH_PX, side, PATCH_PX * 3).transpose(2, 3)
            # the same number that a float32 division on the host, rounded to bf16, would give
            values = self._levels(weight)[cut.reshape(pictures, side, side, -1).int()]
        else:
            pictures, side = pixels.shape[0], pixels.shape[2] // PATCH_PX
            cut = pixels.to(weight.dtype).view(pictures, 3, side, PATCH_PX, side, PATCH_PX)
            values = cut.permute(0, 2, 4, 3, 5, 1).reshape(pictures, side, side, -1)
        matrix = weight.permute(0, 2, 3, 1).reshape(weight.shape[0], -1)
        return functional.linear(values, matrix, projection.bias) + self._positions(side)

    def _levels(self, weight: torch.Tensor) -> torch.Tensor:
        """Normalised value of each of the 256 grey levels."""
        if self._table is None or self._table.device != weight.device:
            self._table = normalised_levels().to(weight.device, weight.dtype)
        return self._table

    def _keep(self, name: Any, weight: torch.Tensor, make: Any) -> torch.Tensor:  # noqa: ANN401
        """What `make` derives from a weight, made again when the weight has been written to."""
        # torch's counter of in-place writes; tensors of inference mode have none
        version = 0 if weight.is_inference() else weight._version  # noqa: SLF001
        kept = self._kept.get(name)
        if kept is None or kept[0] != version:
            kept = self._kept[name] = (version, make())
        return kept[1]

    def _positions(self, side: int) -> torch.Tensor:
        positions = self.sam.pos_embed
        return self._keep(side, positions, lambda: self.sam.get_abs_pos(positions, side))

    def _distances(self, attention: Any, height: int, width: int) -> torch.Tensor:  # noqa: ANN401
        """Vectors of all row distances, then all column distances, then zeros: [distances, dim]."""

        def make() -> torch.Tensor:
            sides = (attention.rel_pos_h, height), (attention.rel_pos_w, width)
            vectors = torch.cat([_resized(table, 2 * side - 1) for table, side in sides])
            # 54 or 190 columns send the product to a kernel six times slower than 64 or 192
            return functional.pad(vectors, (0, 0, 0, -len(vectors) % 64))

        return self._keep((id(attention), height, width), attention.rel_pos_h, make)

    # -- SAM -----------------------------------------------------------------------------------

    def _sam(self, stream: torch.Tensor, do: Any) -> torch.Tensor:  # noqa: ANN401
        """SAM's image encoder and the two convolutions behind it: [pictures, side / 4, side / 4, width]."""
        change = None
        for block in self.sam.blocks:
            norm = block.norm1
            normed = do.add_norm(stream, change, norm.weight, norm.bias, norm.eps)
            change = self._sam_attention(block, normed, do)
            norm = block.norm2
            normed = do.add_norm(stream, change, norm.weight, norm.bias, norm.eps)
            change = block.mlp(normed)
        stream += change
        neck = self.sam.neck
        flat = functional.linear(stream, neck[0].weight.flatten(1))
        x = _normed(flat, neck[1]).permute(0, 3, 1, 2)  # channels last in memory, as cuDNN likes it
        x = _normed(neck[2](x).permute(0, 2, 3, 1), neck[3]).permute(0, 3, 1, 2)
        return self.sam.net_3(self.sam.net_2(x)).permute(0, 2, 3, 1)

    def _sam_attention(self, block: Any, normed: torch.Tensor, do: Any) -> torch.Tensor:  # noqa: ANN401
        attention = block.attn
        heads, side = attention.num_heads, block.window_size
        qkv = attention.qkv(normed)
        pictures, height, width, _ = qkv.shape
        query = qkv.view(pictures, height, width, 3, heads, -1)[:, :, :, 0]
        if side:
            distances = query @ self._distances(attention, side, side).T
            attended = do.window_attention(qkv, attention.qkv.bias, distances, heads, side)
        else:
            distances = query @ self._distances(attention, height, width).T
            attended = do.global_attention(qkv, distances, heads)
        return attention.proj(attended)

    # -- Qwen2 ---------------------------------------------------------------------------------

    def _queries(self, seen: torch.Tensor, do: Any) -> torch.Tensor:  # noqa: ANN401
        """What the model's queries draw from a picture: [pictures, tokens, width]."""
        seen = seen.flatten(1, 2)
        pictures, count, width = seen.shape
        asked = self.qwen.query_768 if count == (TILE_PX // 64) ** 2 else self.qwen.query_1024
        stream = torch.cat([seen, asked.weight.to(seen.dtype).expand(pictures, count, width)], dim=1)
        inner = self.qwen.model.model
        turn, change = self._turn(2 * count, stream.device), None
        for layer in inner.layers:
            attention, mlp = layer.self_attn, layer.mlp
            normed = _rms(do, stream, change, layer.input_layernorm)
            attended = do.prefix_attention(
                *(attention.q_proj(normed), attention.k_proj(normed), attention.v_proj(normed)),
                *(turn, attention.head_dim),
            )
            normed = _rms(do, stream, attention.o_proj(attended), layer.post_attention_layernorm)
            change = mlp.down_proj(do.silu_product(mlp.gate_proj(normed), mlp.up_proj(normed)))
        return _rms(do, stream, change, inner.norm)[:, count:].contiguous()

    def _turn(self, length: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines of the rotary positions, float32 [length, dim / 2] each."""
        if length not in self._turns:
            places = torch.arange(length, device=device)[None]
            like = torch.empty(0, device=device, dtype=torch.float32)
            cos, sin = self.qwen.model.model.rotary_emb(like, places)
            half = cos.shape[-1] // 2
            self._turns[length] = cos[0, :, :half].contiguous(), sin[0, :, :half].contiguous()
        return self._turns[length]


def _rms(do: Any, stream: torch.Tensor, change: torch.Tensor | None, norm: Any) -> torch.Tensor:  # noqa: ANN401
    return do.add_norm(stream, change, norm.weight, None, norm.variance_epsilon)


def _normed(x: torch.Tensor, norm: Any) -> torch.Tensor:  # noqa: ANN401
    """LayerNorm2d of the neck, on [..., channels]."""
    return functional.layer_norm(x, norm.weight.shape, norm.weight, norm.bias, norm.eps)


def _resized(table: torch.Tensor, length: int) -> torch.Tensor:
    """Vectors of relative positions [length, dim], for another size than the table was trained on."""
    if table.shape[0] == length:
        return table
    wide = functional.interpolate(table.float().T[None], size=length, mode="linear")
    return wide[0].T.to(table.dtype)
