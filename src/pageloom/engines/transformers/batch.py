"""One static batch: pages written together, each with its own guard, limit and end. Runs in a thread."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import LogitsProcessor, StoppingCriteria

from pageloom.engines.transformers.config import EOS
from pageloom.engines.transformers.guard import banned
from pageloom.model.reading import Decoding

STEP = 8  # tokens between two tellings: decoding text a token at a time costs as much as writing it


@dataclass(slots=True)
class Row:
    """One page of a batch.

    Attributes:
        told: called in the batch's thread with new words, and at the end with how it ended.
        stopped: set from outside when the page is no longer wanted.
        tokens: written so far.
    """

    decoding: Decoding
    told: Callable[[str, str | None, int], None]
    stopped: bool = False
    ended: bool = False
    tokens: list[int] = field(default_factory=list)
    _shown: int = 0

    def take(self, token: int, decode: Callable[[list[int]], str]) -> None:
        """The next token; its words are told every few tokens."""
        if self.ended or self.stopped:
            return
        if token == EOS:
            self.end("stop", decode)
            return
        self.tokens.append(token)
        if len(self.tokens) >= self.decoding.max_output_tokens:
            self.end("length", decode)
        elif len(self.tokens) - self._shown >= STEP:
            self._tell(decode)

    def end(self, finish: str, decode: Callable[[list[int]], str]) -> None:
        """Tell the last words and the end, once."""
        if self.ended:
            return
        self.ended = True
        words = decode(self.tokens[self._shown :])
        self._shown = len(self.tokens)
        self.told(words, finish, len(self.tokens))

    def _tell(self, decode: Callable[[list[int]], str]) -> None:
        words = decode(self.tokens[self._shown :])
        if words.endswith("\ufffd"):  # a character whose other bytes come with the next token
            return
        self._shown = len(self.tokens)
        self.told(words, None, len(self.tokens))


class Guards(LogitsProcessor):  # type: ignore[misc]
    """Each row's own n-gram guard."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores with the banned tokens at minus infinity."""
        del input_ids
        for number, row in enumerate(self._rows):
            if not row.ended and (found := banned(row.tokens, row.decoding)):
                scores[number, list(found)] = float("-inf")
        return scores


class Ends(StoppingCriteria):  # type: ignore[misc]
    """Takes each step's tokens and tells which rows have ended."""

    def __init__(self, rows: list[Row], decode: Callable[[list[int]], str]) -> None:
        self._rows, self._decode = rows, decode

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:  # noqa: ANN401
        """A bool for every row."""
        del scores
        for row, token in zip(self._rows, input_ids[:, -1].tolist(), strict=True):
            row.take(token, self._decode)
        done = [row.ended or row.stopped for row in self._rows]
        return torch.tensor(done, dtype=torch.bool, device=input_ids.device)


def write(model: Any, inputs: Any, rows: list[Row], decode: Callable[[list[int]], str]) -> None:  # noqa: ANN401
    """Let the model write a batch; rows are told their words as they come."""
    temperature = rows[0].decoding.temperature
    with torch.inference_mode():
        model.generate(
            **inputs,
            do_sample=temperature > 0,
            temperature=temperature if temperature > 0 else None,
            top_p=None,
            top_k=None,
            max_new_tokens=max(row.decoding.max_output_tokens for row in rows),
            logits_processor=[Guards(rows)],
            stopping_criteria=[Ends(rows, decode)],
        )
    for row in rows:
        row.end("length", decode)
