"""No n-gram twice within a window, but for whitelisted tokens: what the official code asks of its decoder.

transformers' own `no_repeat_ngram_size` has neither window nor whitelist, and looks at the prompt as well.
"""

from collections.abc import Sequence

from pageloom.model.reading import Decoding


def banned(written: Sequence[int], decoding: Decoding) -> set[int]:
    """Tokens that must not come next after `written` (the answer so far, without the prompt).

    The same sets as vLLM's `NGramPerReqLogitsProcessor` (checked against it in the vLLM environment).
    """
    size = decoding.ngram
    if size is None or len(written) < size:
        return set()
    window = decoding.ngram_window or 100
    begin = tuple(written[len(written) - (size - 1) :])
    first, last = max(0, len(written) - window), len(written) - size + 1
    found = {
        written[place + size - 1] for place in range(first, last) if tuple(written[place : place + size - 1]) == begin
    }
    return found - set(decoding.whitelist)
