"""CUDA graphs of a function of pictures, for a few numbers of pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


class Graphs:
    """Records a function once per number of pictures, and plays it back.

    Args:
        act: from uint8 [pictures, side, side, 3] to any tensor; without host synchronisation.
        side_px: of the pictures.
        counts: numbers of pictures to record, largest first; the recordings share their memory.
        device: a CUDA device.
        pool: `torch.cuda.graph_pool_handle()`; recordings of one pool are never played at once.
    """

    def __init__(
        self,
        act: Callable[[torch.Tensor], torch.Tensor],
        side_px: int,
        counts: Sequence[int],
        device: torch.device,
        pool: Any,  # noqa: ANN401 - opaque in torch
    ) -> None:
        self.counts = sorted(counts)
        self.pixels = torch.zeros(self.counts[-1], side_px, side_px, 3, dtype=torch.uint8, device=device)
        self._recorded: dict[int, tuple[torch.cuda.CUDAGraph, torch.Tensor]] = {}
        for count in reversed(self.counts):
            pixels = self.pixels[:count]
            aside = torch.cuda.Stream(device)
            aside.wait_stream(torch.cuda.current_stream(device))
            with torch.cuda.stream(aside):
                act(pixels)  # compiles kernels and fills caches, which must not be recorded
            torch.cuda.current_stream(device).wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                tokens = act(pixels)
            self._recorded[count] = graph, tokens

    def step(self, left: int) -> int:
        """How many of the pictures left to play next: the largest recording they fill, or all."""
        filled = [count for count in self.counts if count <= left]
        # a recording half empty costs more than the next smaller one and another round
        roomy = next((count for count in self.counts if left <= count <= left * 1.25), None)
        return left if roomy else filled[-1] if filled else left

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        """The function's result; valid until the next call of any recording of the pool."""
        count = next(count for count in self.counts if count >= len(pixels))
        self.pixels[: len(pixels)].copy_(pixels)
        graph, tokens = self._recorded[count]
        graph.replay()
        return tokens[: len(pixels)]
