"""DeepSeek-OCR-2 for vLLM, with its pages encoded by `PageEncoder`."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import torch
import vllm.model_executor.models.deepseek_ocr2 as stock
from vllm.config import VllmConfig
from vllm.multimodal import MULTIMODAL_REGISTRY

from pageloom_vllm.encoder import TILE_PX, VIEW_PX, PageEncoder, normalised_levels
from pageloom_vllm.fit import unfit
from pageloom_vllm.pixels import ByteInfo, ByteMultiModalProcessor

log = logging.getLogger("vllm.pageloom_vllm")  # below vLLM's own logger, so that its user sees it

# Stock bf16 and ours differ from float32 by about 1 in 1000 each; a wrong mask or a lost bias
# gives cosines below 0.99.
COSINE_PROVEN = 0.999


@MULTIMODAL_REGISTRY.register_processor(  # type: ignore[untyped-decorator, unused-ignore]
    ByteMultiModalProcessor, info=ByteInfo, dummy_inputs=stock.DeepseekOCR2DummyInputsBuilder
)
class FastDeepseekOCR2(stock.DeepseekOCR2ForCausalLM):  # type: ignore[misc]
    """vLLM's DeepSeek-OCR-2; same weights, same visual tokens, sooner."""

    def __init__(self, *, vllm_config: VllmConfig, prefix: str = "") -> None:
        super().__init__(vllm_config=vllm_config, prefix=prefix)
        self._pages: PageEncoder | None = None
        self._proven = False
        if reason := unfit(self):
            log.warning("pageloom-vllm is off, vLLM's own page encoder is used: %s", reason)
        else:
            self._pages = PageEncoder(self)

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> set[str]:
        """As stock; then the first page is encoded, so that no user's page waits for a compiler."""
        loaded: set[str] = super().load_weights(weights)
        if self._pages is not None:
            # what was derived from earlier weights, and recorded with them, is void
            self._pages, self._proven = PageEncoder(self), False
        self._prove()
        return loaded

    def embed_multimodal(self, **inputs: Any) -> Any:  # noqa: ANN401 - vLLM's own signature
        """Visual tokens of all pages of a step; see `PageEncoder.encode`."""
        views = inputs.get("pixel_values")
        if views is None:
            return super().embed_multimodal(**inputs)
        self._prove()
        if self._pages is None:
            return super().embed_multimodal(**_as_stock(inputs, self.view_seperator.dtype))
        across_down = inputs["images_spatial_crop"]
        counts = [x * y if x * y > 1 else 0 for x, y in _joined(across_down, stacked=True).tolist()]
        tiles = _joined(inputs["images_crop"], stacked=False)
        return self._pages.encode(_joined(views, stacked=True), tiles, counts)

    @torch.inference_mode()  # type: ignore[untyped-decorator, unused-ignore]
    def _prove(self) -> None:
        """On a GPU, once: one random page, ours against stock; switch ours off if it differs."""
        device = self.view_seperator.device
        if self._proven or self._pages is None or device.type != "cuda":
            return
        self._proven = True
        draw = torch.Generator().manual_seed(0)
        pages: dict[str, Any] = {}
        for name, count, side in (("pixel_values", 1, VIEW_PX), ("images_crop", 2, TILE_PX)):
            drawn = torch.randint(0, 256, (count, side, side, 3), generator=draw, dtype=torch.uint8)
            pages[name] = drawn.to(device)
        try:
            self._pages.record()
        except Exception as error:  # noqa: BLE001 - a driver or allocator that cannot record
            log.warning("pageloom-vllm encodes without CUDA graphs: %r", error)
            self._pages = PageEncoder(self)
        try:
            ours = self._pages.encode(pages["pixel_values"], pages["images_crop"], [2])[0]
        except Exception as error:  # noqa: BLE001 - whatever a compiler or driver throws
            self._switch_off(f"the encoder does not run here: {error!r}")
            return
        pages["images_spatial_crop"] = torch.tensor([[1, 2]])
        theirs = super().embed_multimodal(**_as_stock(pages, self.view_seperator.dtype))[0]
        cosine = torch.cosine_similarity(ours.double(), theirs.double(), dim=-1).min().item()
        if not cosine >= COSINE_PROVEN:  # also when it is not a number
            self._switch_off(f"a page came out otherwise than vLLM's own (cosine {cosine:.4f})")
        else:
            log.info("pageloom-vllm encodes the pages (least cosine to vLLM's own: %.6f)", cosine)

    def _switch_off(self, reason: str) -> None:
        self._pages = None
        log.warning("pageloom-vllm is off, vLLM's own page encoder is used: %s", reason)


def _joined(tensors: Any, *, stacked: bool) -> torch.Tensor:  # noqa: ANN401
    """One tensor: vLLM batches what has one shape, and hands over a list of what has not."""
    if isinstance(tensors, torch.Tensor):
        return tensors
    return torch.stack(list(tensors)) if stacked else torch.cat(list(tensors))


def _as_stock(inputs: dict[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    """Bytes [n, height, width, 3] as the stock model wants them: normalised [n, 3, height, width]."""
    turned = dict(inputs)
    for name, stacked in (("pixel_values", True), ("images_crop", False)):
        pixels = _joined(inputs[name], stacked=stacked)
        if pixels.dtype == torch.uint8:
            levels = normalised_levels().to(pixels.device, dtype)
            turned[name] = levels[pixels.permute(0, 3, 1, 2).int()]
    return turned
