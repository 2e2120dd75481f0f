"""The model class with the vision tower's sizes taken from config.json."""

from __future__ import annotations

from unittest.mock import patch

import vllm.model_executor.models.deepseek_ocr2 as stock
from torch import nn
from vllm.config import VllmConfig


def model_class() -> type[nn.Module]:
    """The class that would read the checkpoint without this plug-in."""
    try:
        import pageloom_vllm
    except ImportError:
        return stock.DeepseekOCR2ForCausalLM
    if not pageloom_vllm.registered:
        return stock.DeepseekOCR2ForCausalLM
    from pageloom_vllm.model import FastDeepseekOCR2

    return FastDeepseekOCR2


class TinyDeepseekOCR2(model_class()):  # type: ignore[misc]
    """DeepSeek-OCR-2; small where the checkpoint says so, as it would be otherwise."""

    def __init__(self, *, vllm_config: VllmConfig, prefix: str = "") -> None:
        width = vllm_config.model_config.hf_config.vision_config.width
        encoder, sam = width["qwen2-0-5b"], width["sam_vit_b"]
        if "layers" not in encoder:  # a real checkpoint has no such key
            super().__init__(vllm_config=vllm_config, prefix=prefix)
            return
        build_sam, build_encoder = stock.ImageEncoderViT, stock.build_qwen2_decoder_as_encoder

        def tiny_sam(**sizes: object) -> nn.Module:
            sizes.update(
                depth=sam["layers"],
                embed_dim=sam["width"],
                num_heads=sam["heads"],
                global_attn_indexes=tuple(sam["global_attn_indexes"]),
                last_conv_output=encoder["dim"],
            )
            return build_sam(**sizes)

        def tiny_encoder(**_: object) -> nn.Module:
            return build_encoder(
                decoder_layer=encoder["layers"],
                hidden_dimension=encoder["dim"],
                num_attention_heads=encoder["heads"],
                num_key_value_heads=encoder["kv_heads"],
                intermediate_size=encoder["intermediate_size"],
            )

        with (
            patch.object(stock, "ImageEncoderViT", tiny_sam),
            patch.object(stock, "build_qwen2_decoder_as_encoder", tiny_encoder),
        ):
            super().__init__(vllm_config=vllm_config, prefix=prefix)
