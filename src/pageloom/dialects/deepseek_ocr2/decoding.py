"""How the model is let write. Every number has its source."""

from pageloom.model.reading import Decoding

CONTEXT_TOKENS = 8192  # config.json: max_position_embeddings; prompt and answer share it
PROMPT_TOKENS = 64  # room for BOS and the words of a prompt; the longest built-in one has 12
TEMPERATURE = 0.0  # official run scripts: greedy
NGRAM = 20  # official run_dpsk_ocr2_image.py and vLLM PR 33389: ngram_size=20, window_size=90
NGRAM_WINDOW = 90
CELL_TOKENS = (128821, 128822)  # <td> and </td> may repeat: official whitelist_token_ids


def defaults(visual_tokens: int) -> Decoding:
    """Greedy, up to the end of the context, guarded against repeated 20-grams within 90 tokens."""
    return Decoding(
        max_output_tokens=CONTEXT_TOKENS - visual_tokens - PROMPT_TOKENS,
        temperature=TEMPERATURE,
        ngram=NGRAM,
        ngram_window=NGRAM_WINDOW,
        whitelist=CELL_TOKENS,
    )
