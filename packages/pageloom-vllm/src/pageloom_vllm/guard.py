"""The n-gram guard for all requests of a step at once: no token that would repeat an n-gram.

Same bans as `NGramPerReqLogitsProcessor` of vLLM, which loops over every request and position in
Python at each step. Here the requests' last tokens lie in one matrix, and a step compares all of
them together; most steps end after the first comparison, and ban nothing.

    vllm serve ... --logits-processors pageloom_vllm.guard:NGramGuard

Per request, in `vllm_xargs`: `ngram_size`, `window_size` (default 100), `whitelist_token_ids`.
For Model Runner V2 see `guard_v2.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from vllm.config import VllmConfig
from vllm.sampling_params import SamplingParams
from vllm.v1.sample.logits_processor.builtin import process_dict_updates
from vllm.v1.sample.logits_processor.interface import BatchUpdate, LogitsProcessor

WINDOW = 100  # tokens; the reference's default
NOT_YET = -1  # what stands for a token that is still on its way from the GPU

Tokens = npt.NDArray[np.int32]
Counts = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Rule:
    """What a request asked for."""

    size: int  # of the n-gram, in tokens
    window: int  # how many of the last tokens are looked at
    allowed: frozenset[int]  # tokens never banned

    @classmethod
    def of(cls, params: SamplingParams) -> Rule | None:
        """The rule in a request's extra arguments, or None where it asked for none.

        Raises:
            ValueError: a number is not a positive integer, or the white list not a list.
        """
        asked = params.extra_args or {}
        size, window = asked.get("ngram_size"), asked.get("window_size", WINDOW)
        allowed = asked.get("whitelist_token_ids")
        if size is None:
            return None
        for name, number in (("ngram_size", size), ("window_size", window)):
            if not isinstance(number, int) or number <= 0:
                raise ValueError(f"`{name}` has to be a strictly positive integer, got {number}.")
        if allowed is not None and not isinstance(allowed, Iterable):
            raise ValueError(f"`whitelist_token_ids` has to be a sequence of integers, got {allowed}.")
        return cls(size, window, frozenset(allowed or ()))


def repeats(windows: Tokens, lengths: Counts, size: int) -> tuple[Counts, Tokens]:
    """Tokens that would complete an n-gram which a window holds already.

    Args:
        windows: last tokens of each request [requests, window], ending right; what is left of a
            shorter request is not looked at.
        lengths: how many tokens of its window are the request's [requests].
        size: of the n-gram.

    Returns:
        Row and token of each ban, in no order, perhaps twice.
    """
    width = windows.shape[1]
    nothing = np.empty(0, np.intp), np.empty(0, np.int32)
    if size < 2 or width < size:  # the reference bans nothing for single tokens
        return nothing
    # a candidate is the place of an n-gram's last token; its row must hold the whole n-gram
    places = np.arange(size - 1, width)
    same = (windows[:, size - 2 : -1] == windows[:, -1:]) & (places >= (width - lengths + size - 1)[:, None])
    rows, found = np.nonzero(same)
    for back in range(1, size - 1):
        if not len(rows):
            return nothing
        last = found + size - 2
        still = windows[rows, last - back] == windows[rows, width - 1 - back]
        rows, found = rows[still], found[still]
    return rows, windows[rows, found + size - 1]


@dataclass(eq=False, slots=True)
class Request:
    """A guarded request."""

    rule: Rule
    tokens: list[int]  # vLLM's own list of its output; grows as it is written
    line: int  # its place in `Histories`


class Histories:
    """Output tokens of the guarded requests in one matrix, to be looked at together.

    Args:
        lines: requests there may be at once.
        length: tokens a request may have, at most.
    """

    def __init__(self, lines: int, length: int) -> None:
        self.tokens: Tokens = np.empty((lines, length + 1), np.int32)  # untouched memory costs nothing
        self.known: Counts = np.zeros(lines, np.intp)  # tokens of a line that are final
        self.free = list(range(lines))

    def line(self, taken: set[int]) -> int:
        """A line of one's own. `taken` are those in use; the rest fell back without a word."""
        if not self.free:
            self.free = sorted(set(range(len(self.known))) - taken)
        line = self.free.pop()
        self.known[line] = 0
        return line

    def read(self, requests: Sequence[Request], lines: Counts) -> Counts:
        """Take in what the requests have written since; returns their numbers of tokens."""
        counts = np.fromiter((len(request.tokens) for request in requests), np.intp, len(requests))
        for place in np.flatnonzero(counts - self.known[lines] != 1).tolist():
            request, known = requests[place], self.known[lines[place]]
            self.tokens[request.line, known : counts[place]] = request.tokens[known:]
            self.known[request.line] = max(0, counts[place] - 1)
        # the usual case: one more token each
        writing = counts > 0
        newest = np.fromiter((request.tokens[-1] if request.tokens else 0 for request in requests), np.int32)
        self.tokens[lines[writing], counts[writing] - 1] = newest[writing]
        self.known[lines] = np.where(newest == NOT_YET, self.known[lines], counts)
        return counts

    def windows(self, lines: Counts, counts: Counts, window: int) -> Tokens:
        """The last `window` tokens [requests, window], ending right; too short a line repeats its first."""
        places = counts[:, None] + np.arange(-window, 0)
        windows: Tokens = self.tokens[lines[:, None], np.maximum(places, 0)]
        return windows


class NGramGuard(LogitsProcessor):  # type: ignore[misc]
    """Logits processor of vLLM's V1 model runner."""

    def __init__(self, vllm_config: VllmConfig, device: torch.device, is_pin_memory: bool) -> None:  # noqa: FBT001 - vLLM's signature
        self.device, self.pinned = device, is_pin_memory
        self.never = torch.tensor(float("-inf"), device=device)
        self.requests: dict[int, Request] = {}  # by row of the batch
        lines = vllm_config.scheduler_config.max_num_seqs
        # twice: a request may come in before the one it replaces has gone
        self.histories = Histories(2 * lines, vllm_config.model_config.max_model_len)
        self._shapes: dict[tuple[int, int], tuple[list[int], list[Request], Counts]] | None = None

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Refuse a request whose rule cannot be read; it ends in HTTP 400."""
        Rule.of(sampling_params)

    def is_argmax_invariant(self) -> bool:
        """No: it exists to change what greedy decoding takes."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Requests came, went, or changed rows."""

        def new(params: SamplingParams, _prompt: Any, tokens: list[int]) -> Request | None:  # noqa: ANN401
            rule = Rule.of(params)
            taken = {request.line for request in self.requests.values()} if not self.histories.free else set()
            return Request(rule, tokens, self.histories.line(taken)) if rule else None

        if process_dict_updates(self.requests, batch_update, new):
            self._shapes = None

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Set the logits [rows, vocabulary] of banned tokens to -inf, in place."""
        rows: list[int] = []
        tokens: list[int] = []
        for (size, window), (members, requests, lines) in self._by_shape().items():
            counts = self.histories.read(requests, lines)
            windows = self.histories.windows(lines, counts, window)
            places, found = repeats(windows, np.minimum(counts, window), size)
            for place, token in zip(places.tolist(), found.tolist(), strict=True):
                if token not in requests[place].rule.allowed:
                    rows.append(members[place])
                    tokens.append(token)
        if rows:
            # pinned, and the value there already: else the host waits here for the step's whole work
            at = torch.tensor([rows, tokens], pin_memory=self.pinned).to(self.device, non_blocking=True)
            logits.index_put_((at[0], at[1]), self.never.to(logits.dtype))
        return logits

    def _by_shape(self) -> dict[tuple[int, int], tuple[list[int], list[Request], Counts]]:
        """Rows, requests and lines, by n-gram size and window: one shape is compared together."""
        if self._shapes is None:
            shapes: dict[tuple[int, int], list[int]] = {}
            for row, request in self.requests.items():
                shapes.setdefault((request.rule.size, request.rule.window), []).append(row)
            self._shapes = {}
            for shape, rows in shapes.items():
                requests = [self.requests[row] for row in rows]
                self._shapes[shape] = rows, requests, np.array([request.line for request in requests])
        return self._shapes
