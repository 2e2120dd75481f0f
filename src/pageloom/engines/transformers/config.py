"""The official config.json in the words of transformers' own model class, so that one download serves every engine."""

import json
from pathlib import Path
from typing import Any

from pageloom.errors import EngineUnavailable, ModelsMissing

_LANGUAGE = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "max_position_embeddings",
    "bos_token_id",
    "eos_token_id",
    "n_routed_experts",
    "n_shared_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "n_group",
    "topk_group",
    "topk_method",
)
"""Fields that have the same name and meaning in both."""

IMAGE_TOKEN, BOS, EOS = 128815, 0, 1
SAM_CHANNELS = 512  # of the convolution between SAM and the encoder; fixed in the official code


def read_config(folder: Path) -> dict[str, Any]:
    """The official config.json of a checkpoint.

    Raises:
        ModelsMissing: the folder or the file is not there.
        EngineUnavailable: it is another model's.
    """
    file = folder / "config.json"
    if not file.is_file():
        raise ModelsMissing(f"no config.json in {folder.name}: not a checkpoint in the official layout")
    try:
        told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        told["language_config"], told["vision_config"]["width"]["sam_vit_b"]
    except (ValueError, KeyError, TypeError) as error:
        raise EngineUnavailable(f"{folder.name}/config.json is not DeepSeek-OCR-2's (official layout)") from error
    return told


def native_fields(told: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `DeepseekOcr2Config` for an official config.

    The official files then load with no missing and no unexpected key (transformers 5.17 and 5.19 were tried).
    """
    language, views = told["language_config"], told["vision_config"]["width"]
    sam, encoder = views["sam_vit_b"], views["qwen2-0-5b"]
    layers, dense = language["num_hidden_layers"], language.get("first_k_dense_replace", 0)
    text = {name: language[name] for name in _LANGUAGE if name in language}
    text["mlp_layer_types"] = ["dense"] * dense + ["sparse"] * (layers - dense)
    return {
        "text_config": text,
        "vision_config": {
            "sam_config": {
                "hidden_size": sam["width"],
                "num_hidden_layers": sam["layers"],
                "num_attention_heads": sam["heads"],
                "global_attn_indexes": sam["global_attn_indexes"],
                "downsample_channels": [SAM_CHANNELS, encoder["dim"]],
            },
            # defaults are the sizes that official code fixes: Qwen2-0.5B as an encoder
            "encoder_config": {
                "hidden_size": encoder["dim"],
                "num_hidden_layers": encoder.get("layers", 24),
                "num_attention_heads": encoder.get("heads", 14),
                "num_key_value_heads": encoder.get("kv_heads", 2),
                "intermediate_size": encoder.get("intermediate_size", 4864),
                "rms_norm_eps": 1e-6,
                "rope_parameters": {"rope_type": "default", "rope_theta": 1_000_000.0},
                "vocab_size": 1,
            },
        },
        "image_token_id": IMAGE_TOKEN,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
    }
