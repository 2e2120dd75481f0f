"""What a page's pixels cost on the host: decoding, cutting, and what crosses the process border."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import servers

from tables import table


def cost(checkpoint: Path, repeats: int = 9) -> str:
    """Milliseconds, and megabytes, for an A4 page; stock against ours."""
    import torch
    from pageloom_vllm.pixels import ByteProcessor
    from PIL import Image
    from transformers import AutoTokenizer
    from vllm.transformers_utils.processors.deepseek_ocr import DeepseekOCRProcessor

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    sizes = {"image_size": 768, "base_size": 1024, "strategy": "v2"}
    jpeg = servers.page_jpeg(0)
    rows, made = [], {}

    def median(act: Any) -> float:  # noqa: ANN401 - any call
        took = []
        for _ in range(repeats):
            start = time.perf_counter()
            act()
            took.append((time.perf_counter() - start) * 1e3)
        return sorted(took)[repeats // 2]

    def decoded() -> Image.Image:
        return Image.open(io.BytesIO(jpeg)).convert("RGB")

    rows.append(("JPEG decoded", f"{median(decoded):.1f}", f"{len(jpeg) / 1e6:.2f}"))
    page = decoded()
    for name, kind in (("stock", DeepseekOCRProcessor), ("ours", ByteProcessor)):
        processor: Any = kind(tokenizer=tokenizer, **sizes)
        if name == "ours":
            processor.use_bytes()
        made[name] = processor(prompt="<image>\nFree OCR.", images=[page])
        size = sum(made[name][key].nbytes for key in ("pixel_values", "images_crop"))
        took = median(lambda p=processor: p(prompt="<image>\nFree OCR.", images=[page]))
        rows.append((f"tiles and view, {name}", f"{took:.1f}", f"{size / 1e6:.1f}"))
    levels = (torch.arange(256, dtype=torch.float32) / 255 - 0.5) / 0.5
    same = all(
        torch.equal(levels[made["ours"][key].permute(0, 3, 1, 2).int()], made["stock"][key])
        for key in ("pixel_values", "images_crop")
    )
    return table(("one A4 page", "ms", "MB"), rows) + f"\nEqual to the last bit: {same}.\n"
