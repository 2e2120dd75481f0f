"""What of the transformers engine needs no torch: the config's translation and the guard."""

import json
from pathlib import Path

import pytest

from pageloom.engines.transformers import FACTORY, TransformersOptions
from pageloom.engines.transformers.config import native_fields, read_config
from pageloom.engines.transformers.guard import banned
from pageloom.errors import EngineUnavailable, ModelsMissing
from pageloom.model.reading import Decoding

OFFICIAL = {
    "language_config": {
        "vocab_size": 129280,
        "hidden_size": 1280,
        "num_hidden_layers": 12,
        "first_k_dense_replace": 1,
        "n_routed_experts": 64,
    },
    "vision_config": {
        "width": {
            "sam_vit_b": {"width": 768, "layers": 12, "heads": 12, "global_attn_indexes": [2, 5, 8, 11]},
            "qwen2-0-5b": {"dim": 896},
        }
    },
}


def test_the_official_config_in_native_words() -> None:
    fields = native_fields(OFFICIAL)
    assert fields["text_config"]["mlp_layer_types"] == ["dense"] + ["sparse"] * 11
    assert fields["vision_config"]["sam_config"]["downsample_channels"] == [512, 896]
    assert fields["vision_config"]["encoder_config"]["num_hidden_layers"] == 24
    assert fields["image_token_id"] == 128815


def test_another_model_s_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelsMissing):
        read_config(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    with pytest.raises(EngineUnavailable, match="not DeepSeek-OCR-2"):
        read_config(tmp_path)


GUARD = Decoding(100, ngram=3, ngram_window=10, whitelist=(7,))


def test_the_guard_bans_what_would_repeat_an_ngram() -> None:
    assert banned([1, 2, 3, 4, 1, 2], GUARD) == {3}


def test_the_guard_forgets_beyond_its_window() -> None:
    assert banned([1, 2, 3] + [9] * 10 + [1, 2], GUARD) == set()


def test_cells_may_repeat() -> None:
    assert banned([1, 2, 7, 4, 1, 2], GUARD) == set()


def test_without_a_guard_nothing_is_banned() -> None:
    assert banned([1, 1, 1, 1], Decoding(100)) == set()


def test_what_is_missing_is_told() -> None:
    state = FACTORY.available(TransformersOptions())
    assert not state.works
    assert state.fix
