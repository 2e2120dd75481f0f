"""Does the model that vLLM has built look like the one this package knows? Asked by feature.

A version of vLLM that renames a module, a platform that puts its own attention in, a checkpoint
with another projector: each gives a reason here, and vLLM's own way is taken.
"""

from __future__ import annotations

from typing import Any

from torch import nn


def unfit(model: Any) -> str | None:  # noqa: ANN401 - looked at attribute by attribute
    """Why the page encoder cannot stand in for this model's own; None when it can."""
    try:
        return _sam(model.sam_model) or _qwen(model.qwen2_model) or _ending(model)
    except (AttributeError, IndexError, TypeError) as error:
        return f"the vision tower is built otherwise ({error})"


def _power_of_two(number: int) -> bool:
    return number >= 16 and number & (number - 1) == 0  # what the GPU's matrix units take


def _sam(sam: Any) -> str | None:  # noqa: ANN401
    if tuple(sam.patch_embed.proj.weight.shape[1:]) != (3, 16, 16):
        return "patches are not 16 x 16 pixels"
    if sam.pos_embed is None or len(sam.neck) != 4 or not (sam.net_2 and sam.net_3):
        return "SAM has other stages"
    if tuple(sam.neck[0].weight.shape[2:]) != (1, 1):
        return "SAM's neck begins otherwise"
    return next(filter(None, map(_block, sam.blocks)), None)


def _block(block: Any) -> str | None:  # noqa: ANN401
    attention, side = block.attn, block.window_size
    if type(attention).__name__ != "RelPosAttention" or not attention.use_rel_pos:
        return f"SAM's attention is {type(attention).__name__}"
    width = attention.qkv.weight.shape[0] // 3
    if attention.qkv.bias is None or not _power_of_two(width // attention.num_heads):
        return "SAM's heads have another shape"
    if side > 16 or (side and attention.rel_pos_h.shape[0] != 2 * side - 1):
        return f"SAM's windows are {side} patches wide"
    if not isinstance(block.norm1, nn.LayerNorm) or not isinstance(block.norm2, nn.LayerNorm):
        return "SAM's norms are not LayerNorm"
    return None


def _qwen(qwen: Any) -> str | None:  # noqa: ANN401
    inner = qwen.model.model
    if type(qwen.model).__name__ != "CustomQwen2Decoder":
        return f"the encoder is {type(qwen.model).__name__}"
    if inner.config.hidden_act != "silu" or getattr(inner, "has_sliding_layers", False):
        return "the encoder's layers are of another kind"
    if (len(qwen.query_768.weight), len(qwen.query_1024.weight)) != (144, 256):
        return "the encoder has other queries"
    for layer in inner.layers:
        attention = layer.self_attn
        if not _power_of_two(attention.head_dim):
            return "the encoder's heads have another shape"
        if not (layer.input_layernorm.variance_epsilon and layer.mlp.gate_proj and attention.o_proj):
            return "the encoder's layers are of another kind"
    return None


def _ending(model: Any) -> str | None:  # noqa: ANN401
    if model.tile_tag != "2D" or model.view_seperator.dim() != 1:
        return "the visual tokens are put together otherwise"
    if model.projector.projector_type != "linear":
        return f"the projector is {model.projector.projector_type}"
    return None
