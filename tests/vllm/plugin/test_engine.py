"""The same words with and without the plug-in, in vLLM's own engine on the tiny checkpoint."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pageloom_vllm
import pytest
import torch
from pageloom_vllm.encoder import PageEncoder
from pageloom_vllm.fit import unfit
from pageloom_vllm.graphs import Graphs
from pageloom_vllm.model import FastDeepseekOCR2
from PIL import Image

import vllm

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def engine(checkpoint: Path) -> Iterator[vllm.LLM]:
    settings = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    settings["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # the model is looked into
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        yield vllm.LLM(
            str(checkpoint),
            dtype="float32",
            distributed_executor_backend="uni",
            enforce_eager=True,
            skip_mm_profiling=True,
            max_model_len=2048,
            max_num_batched_tokens=4096,
            enable_prefix_caching=False,
            mm_processor_cache_gb=0,
            limit_mm_per_prompt={"image": 1},
        )


@pytest.fixture
def model(engine: vllm.LLM) -> FastDeepseekOCR2:
    found: FastDeepseekOCR2 = engine.llm_engine.model_executor.driver_worker.worker.model_runner.model
    return found


def picture(width: int, height: int) -> Image.Image:
    drawn = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(drawn)


def words(engine: vllm.LLM) -> list[list[int]]:
    """Greedy tokens of a tiled page and a small picture, read together."""
    asked = [
        {"prompt": "<image>\nFree OCR.", "multi_modal_data": {"image": picture(*size)}}
        for size in ((1191, 1684), (600, 700))
    ]
    how = vllm.SamplingParams(temperature=0, max_tokens=16, ignore_eos=True)
    return [list(answer.outputs[0].token_ids) for answer in engine.generate(asked, how, use_tqdm=False)]


def test_equal_words_with_and_without(
    engine: vllm.LLM, model: FastDeepseekOCR2, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(model, FastDeepseekOCR2)
    assert isinstance(model._pages, PageEncoder)
    ours = words(engine)
    monkeypatch.setattr(model, "_pages", None)  # vLLM's own encoder
    assert ours == words(engine)


@torch.inference_mode()
def test_equal_visual_tokens_in_any_portion(model: FastDeepseekOCR2, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = torch.Generator().manual_seed(1)

    def drawn(count: int, side: int) -> torch.Tensor:
        return torch.randint(0, 256, (count, side, side, 3), generator=draw, dtype=torch.uint8)

    crops = torch.tensor([[1, 2], [1, 1], [2, 1]])
    inputs = {"pixel_values": drawn(3, 1024), "images_crop": drawn(4, 768), "images_spatial_crop": crops}
    together = model.embed_multimodal(**inputs)
    monkeypatch.setattr(model._pages, "_patches_at_once", 1)  # one picture at a time
    singly = model.embed_multimodal(**inputs)
    monkeypatch.setattr(model, "_pages", None)
    stock = model.embed_multimodal(**inputs)
    assert [len(tokens) for tokens in together] == [545, 257, 545]
    for one, other, theirs in zip(together, singly, stock, strict=True):
        torch.testing.assert_close(one, theirs, rtol=0, atol=2e-5)
        torch.testing.assert_close(other, theirs, rtol=0, atol=2e-5)


def test_a_tower_of_another_kind_is_left_to_vllm(model: FastDeepseekOCR2, monkeypatch: pytest.MonkeyPatch) -> None:
    assert unfit(model) is None
    monkeypatch.setattr(model.projector, "projector_type", "downsample_mlp_gelu")
    assert unfit(model) == "the projector is downsample_mlp_gelu"
    monkeypatch.delattr(model.sam_model, "net_3")
    assert "built otherwise" in (unfit(model) or "")


def registry(owner: str) -> SimpleNamespace:
    registered: dict[str, str] = {}
    return SimpleNamespace(
        models={pageloom_vllm.ARCHITECTURE: SimpleNamespace(module_name=owner)},
        register_model=registered.__setitem__,
        registered=registered,
    )


@pytest.mark.parametrize(
    ("owner", "switch", "taken"),
    [
        ("vllm.models.deepseek_ocr2", "1", True),
        ("vllm.x", "0", False),
        ("someone_else.model", "1", False),
    ],
)
def test_registers_in_stock_vllm_only(owner: str, switch: str, taken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    models = registry(owner)
    monkeypatch.setattr(vllm, "ModelRegistry", models)
    monkeypatch.setitem(os.environ, pageloom_vllm.SWITCH, switch)
    pageloom_vllm.register()
    assert bool(models.registered) == taken


def test_recordings_are_played_for_every_number_of_pictures() -> None:
    graphs = Graphs.__new__(Graphs)
    graphs.counts = [2, 3, 4, 6, 12, 24]
    for left in range(1, 100):
        step = graphs.step(left)
        assert 1 <= step <= left
        room = next(count for count in graphs.counts if count >= step)
        assert step == 1 or step >= 0.8 * room
