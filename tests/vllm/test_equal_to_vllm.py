"""Our arithmetic against vLLM's own code, over all sizes and texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pageloom.dialects.deepseek_ocr import visual_tokens as visual_tokens_v1
from pageloom.dialects.deepseek_ocr2.views import WAYS, tiling, visual_tokens
from pageloom.engines.transformers.guard import banned
from pageloom.model.reading import Decoding

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]  # a start takes minutes on a busy machine
SIDE = st.integers(1, 6000)


@given(SIDE, SIDE)
@settings(max_examples=3000, deadline=None)
def test_visual_tokens_of_every_size(width: int, height: int) -> None:
    from vllm.model_executor.models.deepseek_ocr2 import DeepseekOCR2ProcessingInfo

    theirs = DeepseekOCR2ProcessingInfo.get_num_image_tokens(None, image_width=width, image_height=height)
    assert visual_tokens(width, height) == theirs


@given(SIDE, SIDE)
@settings(max_examples=1000, deadline=None)
def test_visual_tokens_of_the_first_model(width: int, height: int) -> None:
    from vllm.model_executor.models.deepseek_ocr import DeepseekOCRProcessingInfo

    theirs = DeepseekOCRProcessingInfo.get_num_image_tokens(None, image_width=width, image_height=height)
    assert visual_tokens_v1(tiling(width, height, 640)) == theirs


def test_grids_are_tried_in_the_same_order() -> None:
    from vllm.transformers_utils.processors.deepseek_ocr import calculate_aspect_ratios

    assert list(WAYS) == calculate_aspect_ratios()


@given(st.lists(st.integers(0, 5), max_size=120), st.integers(2, 6), st.integers(1, 90), st.sets(st.integers(0, 5)))
@settings(max_examples=500, deadline=None)
def test_the_guard_bans_the_same_tokens(written: list[int], size: int, window: int, allowed: set[int]) -> None:
    import torch
    from vllm.model_executor.models.deepseek_ocr import NoRepeatNGramLogitsProcessor

    theirs = NoRepeatNGramLogitsProcessor(size, window, allowed)(written, torch.zeros(6))
    ours = banned(written, Decoding(100, ngram=size, ngram_window=window, whitelist=tuple(allowed)))
    assert {number for number, score in enumerate(theirs.tolist()) if score == float("-inf")} == ours
