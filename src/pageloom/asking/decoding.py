"""A dialect's decoding with what a rung of the ladder changes, and how servers spell it."""

from dataclasses import replace

from pageloom.contracts import Prompt
from pageloom.model.reading import Decoding


def decoding_for(prompt: Prompt, changed: Decoding | None) -> Decoding:
    """The dialect's defaults, changed where a request says so; 0 tokens, no guard, no whitelist mean the default."""
    usual = prompt.decoding
    if changed is None:
        return usual
    return replace(
        usual,
        max_output_tokens=min(usual.max_output_tokens, changed.max_output_tokens or usual.max_output_tokens),
        temperature=changed.temperature,
        ngram=changed.ngram or usual.ngram,
        ngram_window=changed.ngram_window or usual.ngram_window,
        whitelist=changed.whitelist or usual.whitelist,
    )


REPEAT_PATTERN, REPEAT_COUNT = 32, 240
"""vLLM's own net (`repetition_detection`), should ours on the stream not hold: 240 times a pattern of up to 32 tokens.

Fewer would cut tables of equal cells, whose pattern has three tokens.
"""


def guard_arguments(decoding: Decoding) -> dict[str, object]:
    """The n-gram guard as vLLM's `extra_args` (over HTTP `vllm_xargs`); empty without one."""
    if decoding.ngram is None:
        return {}
    return {
        "ngram_size": decoding.ngram,
        "window_size": decoding.ngram_window or 100,
        "whitelist_token_ids": list(decoding.whitelist),
    }
