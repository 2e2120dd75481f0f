"""Pixels travel as bytes, and are the stock ones to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pageloom_vllm.encoder import normalised_levels
from pageloom_vllm.pixels import ByteProcessor, resized
from PIL import Image
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from vllm.transformers_utils.processors.deepseek_ocr import DeepseekOCRProcessor

pytestmark = pytest.mark.vllm
SIZES = {"image_size": 768, "base_size": 1024, "strategy": "v2"}


def picture(width: int, height: int, seed: int = 0) -> Image.Image:
    drawn = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(drawn)


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Path) -> PreTrainedTokenizerBase:
    found: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(checkpoint)
    return found


@settings(max_examples=60, deadline=None)
@given(*[st.integers(1, 90)] * 4)
def test_resized_on_several_cores_as_pillow_does(width: int, height: int, new_width: int, new_height: int) -> None:
    image = picture(width, height)
    assert image.resize((new_width, new_height)).tobytes() == resized(image, (new_width, new_height)).tobytes()


@pytest.mark.parametrize("size", [(1191, 1684), (600, 700), (900, 300)])
def test_same_numbers_as_the_stock_processor(size: tuple[int, int], tokenizer: PreTrainedTokenizerBase) -> None:
    stock, ours = DeepseekOCRProcessor(tokenizer=tokenizer, **SIZES), ByteProcessor(tokenizer=tokenizer, **SIZES)
    ours.use_bytes()
    asked = {"prompt": "<image>\nFree OCR.", "images": [picture(*size)]}
    theirs, mine = stock(**asked), ours(**asked)
    assert torch.equal(theirs["images_spatial_crop"], mine["images_spatial_crop"])
    assert torch.equal(theirs["input_ids"], mine["input_ids"])
    for name in ("pixel_values", "images_crop"):
        assert mine[name].dtype == torch.uint8
        assert torch.equal(normalised_levels()[mine[name].permute(0, 3, 1, 2).int()], theirs[name])


def test_a_checkpoint_that_normalises_otherwise_keeps_floats(tokenizer: PreTrainedTokenizerBase) -> None:
    processor = ByteProcessor(tokenizer=tokenizer, image_mean=(0.48, 0.46, 0.41), **SIZES)
    processor.use_bytes()
    assert processor(prompt="<image>\n", images=[picture(40, 30)])["pixel_values"].dtype == torch.float32
