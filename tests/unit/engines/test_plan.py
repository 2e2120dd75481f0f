"""The line for a vLLM server: arithmetic, and only flags that exist."""

import json
from pathlib import Path

import pytest

from pageloom.engines.vllm.plan import (
    GIB,
    KV_BYTES_PER_TOKEN,
    MOST_SEQUENCES,
    OUR_GUARD,
    STOCK_GUARD,
    Gpu,
    Installed,
    Wish,
    flags_in,
    kv_tokens,
    plan,
    quantized_as,
    weights_gib,
)

MODEL = "deepseek-ai/DeepSeek-OCR-2"
STOCK = Installed(("vllm",), "0.32.0")


PLAIN = Wish(MODEL)


def line(wish: Wish = PLAIN, installed: Installed = STOCK, gpu: Gpu | None = None, cores: int = 16) -> str:
    return " ".join(plan(wish, installed, gpu or Gpu("H200", 140.0), cores).arguments)


def test_a_token_of_cache_takes_sixty_kibibytes() -> None:
    assert KV_BYTES_PER_TOKEN == 60 * 1024
    assert kv_tokens(24, 0.9, 6.4) == int((24 * 0.9 - 6.4 - 3.0) * GIB / KV_BYTES_PER_TOKEN)


@pytest.mark.parametrize(("memory", "least", "most"), [(16, 8, 64), (24, 60, 110), (40, 150, 256), (80, 256, 256)])
def test_pages_at_once_follow_the_memory(memory: int, least: int, most: int) -> None:
    made = plan(Wish(MODEL, memory_gib=memory), STOCK, None, 8)
    assert least <= made.sequences <= most


def test_a_card_that_is_too_small_is_told() -> None:
    made = plan(Wish(MODEL, memory_gib=8), STOCK, None, 8)
    assert made.sequences == 1
    assert any("does not fit" in reason for reason in made.why)


def test_the_arithmetic_is_shown() -> None:
    why = " ".join(plan(Wish(MODEL, memory_gib=24), STOCK, None, 8).why)
    assert "24 GiB x 0.9 - weights 6.4 GiB" in why
    assert str(kv_tokens(24, 0.9, 6.4)) in why


def test_no_more_pages_than_help() -> None:
    assert f"--max-num-seqs {MOST_SEQUENCES}" in line()


def test_flags_that_the_version_lacks_are_left_out_and_named() -> None:
    old = Installed(("vllm",), "0.20", frozenset({"--dtype", "--port", "--served-model-name"}))
    made = plan(Wish(MODEL), old, Gpu("A10", 24), 4)
    words = [word for word in made.arguments if word.startswith("--")]
    assert set(words) <= old.flags
    assert "--max-num-queued-reqs" in made.left_out


def test_flags_are_read_from_a_help_text() -> None:
    text = "  --model MODEL\n  --dtype {auto,half}, -d\n  --no-enable-prefix-caching, --enable-prefix-caching\n"
    assert {"--model", "--dtype", "-d", "--no-enable-prefix-caching"} <= flags_in(text)


def test_our_guard_is_used_where_our_plug_in_is_installed() -> None:
    assert STOCK_GUARD in line()
    assert OUR_GUARD in line(installed=Installed(("vllm",), "0.32.0", pageloom_vllm=True))


def test_the_runner_that_refuses_the_guard_is_off() -> None:
    made = plan(Wish(MODEL), STOCK, Gpu("H200", 140), 16)
    assert made.environment["VLLM_USE_V2_MODEL_RUNNER"] == "0"


def test_a_build_for_processors_gets_no_gpu_options() -> None:
    words = line(installed=Installed(("vllm",), "0.32.0+cpu"))
    assert "--gpu-memory-utilization" not in words
    assert "--enforce-eager" in words
    assert "--enforce-eager" not in line()


def test_nothing_that_old_recipes_advise_and_no_version_has() -> None:
    for invented in ("--timeout", "--retry-on-failure", "--repetition-penalty", "--trust-remote-code"):
        assert invented not in line()


def test_parallel_and_quantised() -> None:
    words = line(Wish(MODEL, tensor_parallel=2, data_parallel=3, quantization="fp8"))
    assert "--tensor-parallel-size 2" in words
    assert "--data-parallel-size 3" in words
    assert "--quantization fp8" in words
    assert weights_gib(MODEL, "fp8")[0] < 0.7 * weights_gib(MODEL, None)[0]


def test_a_quantised_checkpoint_tells_its_method(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": {"quant_method": "awq"}}))
    assert quantized_as(str(tmp_path)) == "awq"
    (tmp_path / "config.json").write_text("{}")
    assert quantized_as(str(tmp_path)) is None


def test_weights_on_this_disk_are_measured(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"0" * 1024)
    size, source = weights_gib(str(tmp_path), None)
    assert size == 1024 / GIB
    assert "1 files" in source
