"""A page's pixels travel as bytes: Pillow cuts and resizes, the GPU normalises.

The stock processor makes 55 MB of float32 out of an A4 page, which then crosses two process
borders. These are the same tiles, resized by the same Pillow calls, as 14 MB of uint8
[tile, height, width, channel]; the numbers the model sees are equal to the last bit.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import vllm.model_executor.models.deepseek_ocr2 as stock
from PIL import Image
from vllm.multimodal.inputs import MultiModalFieldConfig
from vllm.transformers_utils.processors.deepseek_ocr import DeepseekOCRProcessor

from pageloom_vllm.encoder import DEVIATION, MEAN


class Bytes:
    """Stands where the stock processor has ToTensor and Normalize.

    Args:
        mean: of the pixels, 0 to 1; the processor takes the padding's grey from it.
    """

    def __init__(self, mean: Sequence[float]) -> None:
        self.mean = mean

    def __call__(self, image: Image.Image) -> torch.Tensor:
        """The image as uint8 [height, width, 3]."""
        return torch.from_numpy(np.array(image.convert("RGB")))


class ByteProcessor(DeepseekOCRProcessor):  # type: ignore[misc]
    """vLLM's DeepSeek-OCR processor, with tiles and views as bytes."""

    # no __init__: transformers reads the stock one's signature to find the tokenizer

    def use_bytes(self) -> None:
        """From now on give bytes, unless the checkpoint normalises otherwise than the GPU would."""
        if self.normalize and (tuple(self.image_mean), tuple(self.image_std)) == ((MEAN,) * 3, (DEVIATION,) * 3):
            self.image_transform = Bytes(self.image_mean)

    def tokenize_with_images(self, *arguments: Any, **options: Any) -> tuple[Any, ...]:  # noqa: ANN401
        """As stock; a page without tiles has none of the same kind as the others' tiles."""
        ids, views, tiles, *rest = super().tokenize_with_images(*arguments, **options)
        if isinstance(self.image_transform, Bytes) and not len(tiles):
            tiles = torch.empty((0, self.image_size, self.image_size, 3), dtype=torch.uint8)
        return (ids, views, tiles, *rest)


class ByteInfo(stock.DeepseekOCR2ProcessingInfo):  # type: ignore[misc]
    """As stock, with the processor above."""

    def get_hf_processor(self, **options: object) -> ByteProcessor:
        """The processor, with DeepSeek-OCR-2's sizes."""
        sizes = {
            "image_size": stock.IMAGE_SIZE,
            "base_size": stock.BASE_SIZE,
            "crop_mode": stock.CROP_MODE,
            "strategy": "v2",
        }
        processor: ByteProcessor = self.ctx.get_hf_processor(ByteProcessor, **{**sizes, **options})
        processor.use_bytes()
        return processor


class ByteMultiModalProcessor(stock.DeepseekOCR2MultiModalProcessor):  # type: ignore[misc]
    """As stock; the count of tiles stays on the host, where it is read."""

    def _get_mm_fields_config(self, *arguments: Any) -> Mapping[str, MultiModalFieldConfig]:  # noqa: ANN401
        fields = dict(super()._get_mm_fields_config(*arguments))
        if "keep_on_cpu" in inspect.signature(MultiModalFieldConfig.batched).parameters:
            # read on the GPU, each step would wait for all work queued before it
            fields["images_spatial_crop"] = MultiModalFieldConfig.batched("image", keep_on_cpu=True)
        return fields
