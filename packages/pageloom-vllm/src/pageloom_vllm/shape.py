"""How to start `vllm serve` for DeepSeek-OCR-2 on a machine: flags and environment.

Plain functions of plain numbers; imports neither torch nor vLLM, so that a starter on another
interpreter may ask. Only flags that the given vLLM has are returned.
"""

from __future__ import annotations

import re

# Sizes of DeepSeek-OCR-2, in bytes
WEIGHTS = 6.8e9  # 3.4 billion parameters in bf16
TOKEN = 12 * 2 * 1280 * 2  # keys and values of 12 layers, width 1280, bf16
PAGE_TOKENS = 1131 + 700  # an A4 page of six tiles, and a full page of text
ENCODER = 6e9  # the page encoder at work, a step's logits, CUDA itself
USED = 0.9  # of the GPU's memory; vLLM's own default of 0.92 leaves little for a busy encoder

GUARD = "pageloom_vllm.guard:NGramGuard"
STOCK_GUARD = "vllm.model_executor.models.deepseek_ocr:NGramPerReqLogitsProcessor"


def api_servers(cores: int) -> int:
    """Processes that decode and cut pages; one core stays with the engine, one with its callers.

    A page costs one of them about 60 ms of a core, so that eight feed 100 pages a second at most;
    more of them only take cores from the engine.
    """
    return max(1, min(8, (cores - 2) // 2))


def pages_at_once(gpu_memory_gib: float) -> int:
    """Pages whose tokens fit the GPU beside the weights, at most 512.

    On an H200 the language model gains nothing beyond: 42 pages a second at 256, 47 at 512.
    """
    room = gpu_memory_gib * 2**30 * USED - WEIGHTS - ENCODER
    return max(4, min(512, int(room / (PAGE_TOKENS * TOKEN))))


def step_tokens(gpu_memory_gib: float) -> int:
    """Tokens computed in one step, which is also how much is encoded in one: 14 pages or 7."""
    return 16384 if gpu_memory_gib >= 70 else 8192


def serve_flags(cores: int, gpu_memory_gib: float, help_text: str, *, guard: str = GUARD) -> list[str]:
    """Flags of `vllm serve` for a whole GPU, in the order of the advice.

    Args:
        cores: CPU cores that the server may use.
        gpu_memory_gib: memory of the GPU.
        help_text: what `vllm serve --help=all` of that vLLM prints.
        guard: logits processor against repeated n-grams; "" for none.
    """
    wanted: list[tuple[str, ...]] = [
        ("--dtype", "bfloat16"),
        ("--max-model-len", "8192"),  # the model's limit; prompt and output together
        ("--gpu-memory-utilization", f"{USED}"),
        ("--max-num-seqs", f"{pages_at_once(gpu_memory_gib)}"),
        ("--max-num-batched-tokens", f"{step_tokens(gpu_memory_gib)}"),
        ("--limit-mm-per-prompt", '{"image":1}'),
        # no two pages are alike: hashing and keeping them costs, and never pays
        ("--no-enable-prefix-caching",),
        ("--mm-processor-cache-gb", "0"),
        ("--api-server-count", f"{api_servers(cores)}"),
        # one message for every 8 tokens of a page: 16 pages a second are 1,000 messages then
        ("--stream-interval", "8"),
        ("--scheduling-policy", "priority"),
    ]
    if guard:
        wanted.append(("--logits-processors", guard))
    known = set(re.findall(r"--[a-z0-9-]+", help_text))
    return [word for flag in wanted if flag[0] in known for word in flag]


def serve_environment() -> dict[str, str]:
    """Environment of `vllm serve` beside what the machine needs."""
    return {
        # Model Runner V2 refuses processors of the first interface; see `guard_v2` for it
        "VLLM_USE_V2_MODEL_RUNNER": "0",
        # each API server would else start as many threads as there are cores
        "OMP_NUM_THREADS": "1",
    }
