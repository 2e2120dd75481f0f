"""A page's pixels travel as bytes: Pillow cuts and resizes, the GPU normalises.

The stock processor makes 55 MB of float32 out of an A4 page, which then crosses two process
borders. These are the same tiles, resized by the same Pillow calls, as 14 MB of uint8
[tile, height, width, channel]; the numbers the model sees are equal to the last bit.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor  # noqa: TID251 - inside vLLM there is no pipeline/
from typing import Any

import numpy as np
import torch
import vllm.model_executor.models.deepseek_ocr2 as stock
from PIL import Image
from vllm.multimodal.inputs import MultiModalFieldConfig
from vllm.transformers_utils.processors.deepseek_ocr import DeepseekOCRProcessor

from pageloom_vllm.encoder import DEVIATION, MEAN

BANDS = 4  # a page's resizing goes to so many cores; 92 ms on one


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


def resized(image: Image.Image, size: tuple[int, int], method: int | None = None) -> Image.Image:
    """As `image.resize(size, method)`, to the last bit; on several cores where the height grows.

    Pillow then resizes the rows, rounds, and resizes the columns; rows do not know of each other,
    nor do columns: each is a band of its own here. Pillow lets other threads run meanwhile. Where
    the height shrinks, Pillow 13 may begin with the columns, and is left to it.
    """
    width, height = size
    if height < image.height:
        return type(image).resize(image, size, method)
    widened = Image.new(image.mode, (width, image.height))
    for top, band in _bands(
        image.height, lambda a, b: image.crop((0, a, image.width, b)).resize((width, b - a), method)
    ):
        widened.paste(band, (0, top))
    whole = Image.new(image.mode, size)
    for left, band in _bands(width, lambda a, b: widened.crop((a, 0, b, image.height)).resize((b - a, height), method)):
        whole.paste(band, (left, 0))
    return whole


def _bands(length: int, act: Callable[[int, int], Image.Image]) -> Iterator[tuple[int, Image.Image]]:
    edges = sorted({length * number // BANDS for number in range(BANDS + 1)})  # fewer, if less than a pixel each
    return zip(edges, _threads().map(act, edges[:-1], edges[1:]), strict=False)


def _resize_of(image: Image.Image, size: tuple[int, int], resample: int | None = None, **more: Any) -> Image.Image:  # noqa: ANN401
    """`image.resize`, for an image that has it replaced."""
    if more:
        return type(image).resize(image, size, resample, **more)
    return resized(image, size, resample)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(BANDS, thread_name_prefix="pageloom-pixels")


class ByteProcessor(DeepseekOCRProcessor):  # type: ignore[misc]
    """vLLM's DeepSeek-OCR processor, with tiles and views as bytes."""

    # no __init__: transformers reads the stock one's signature to find the tokenizer

    def use_bytes(self) -> None:
        """From now on give bytes, unless the checkpoint normalises otherwise than the GPU would."""
        if self.normalize and (tuple(self.image_mean), tuple(self.image_std)) == ((MEAN,) * 3, (DEVIATION,) * 3):
            self.image_transform = Bytes(self.image_mean)

    def tokenize_with_images(self, conversation: str, images: list[Image.Image], **options: Any) -> tuple[Any, ...]:  # noqa: ANN401
        """As stock, sooner; a page without tiles has none of the same kind as the others' tiles."""
        copies = [image.convert("RGB") for image in images]
        for copy in copies:
            # the stock code asks the image itself for its tiles and its view
            copy.resize = functools.partial(_resize_of, copy)  # type: ignore[method-assign]
        ids, views, tiles, *rest = super().tokenize_with_images(conversation, copies, **options)
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
