"""What the n-gram guard costs the engine's process at each step; no GPU needed."""

from __future__ import annotations

import random
import time
from types import SimpleNamespace
from typing import Any

from tables import table


def cost(steps: int = 100) -> str:
    """Milliseconds a step, by requests in flight; 600 tokens each, 20 in 90, few repeats."""
    import torch
    from pageloom_vllm.guard import NGramGuard
    from vllm.model_executor.models.deepseek_ocr import NGramPerReqLogitsProcessor
    from vllm.v1.sample.logits_processor.interface import BatchUpdate

    from vllm import SamplingParams

    config: Any = SimpleNamespace(
        scheduler_config=SimpleNamespace(max_num_seqs=512), model_config=SimpleNamespace(max_model_len=8192)
    )
    params = SamplingParams(extra_args={"ngram_size": 20, "window_size": 90, "whitelist_token_ids": [128821, 128822]})
    rows = []
    for count in (1, 64, 160, 512):
        took = {}
        for guard in (NGramPerReqLogitsProcessor, NGramGuard):
            dice = random.Random(0)
            processor = guard(config, torch.device("cpu"), is_pin_memory=False)
            texts = [[dice.randrange(2000) for _ in range(600)] for _ in range(count)]
            added = [(row, params, [], text) for row, text in enumerate(texts)]
            processor.update_state(BatchUpdate(count, removed=[], added=added, moved=[]))
            logits = torch.zeros(count, 10)
            processor.apply(logits)
            start = time.perf_counter()
            for _ in range(steps):
                for text in texts:
                    text.append(dice.randrange(2000))
                processor.update_state(None)
            writing = time.perf_counter() - start
            start = time.perf_counter()
            for _ in range(steps):
                for text in texts:
                    text.append(dice.randrange(2000))
                processor.update_state(None)
                processor.apply(logits)
            took[guard] = (time.perf_counter() - start - writing) / steps * 1e3
        rows.append((count, *(f"{took[guard]:.2f}" for guard in (NGramPerReqLogitsProcessor, NGramGuard))))
    return table(("requests in flight", "stock, ms a step", "ours, ms a step"), rows)
