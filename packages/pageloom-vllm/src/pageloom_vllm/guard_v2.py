"""The n-gram guard for vLLM's Model Runner V2, which keeps the tokens on the GPU.

    vllm serve ... --logits-processors pageloom_vllm.guard_v2:NGramGuardV2

Same rules and same bans as `guard.py`. Nothing is read back: the comparison is a handful of
tensor operations over [rows, window, n-gram], the bans one scatter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor

from pageloom_vllm.guard import Rule

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.sampling_params import SamplingParams
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsContext, LogitsProcRequestState

NOBODY = -1  # no token has this id


class NGramGuardV2(LogitsProcessor):  # type: ignore[misc]
    """Logits processor of vLLM's Model Runner V2."""

    def __init__(self, vllm_config: VllmConfig, req_states: LogitsProcRequestState) -> None:
        if vllm_config.speculative_config:
            raise ValueError(
                "NGramGuardV2 does not see drafted tokens: leave speculative decoding off, or the guard out"
            )
        self.states = req_states
        self.rules: dict[int, Rule] = {}  # by slot
        self._written = True
        slots, device = req_states.max_num_reqs, req_states.device
        # size 0: the slot asked for nothing
        self.sizes = torch.zeros(slots, dtype=torch.int64, device=device)
        self.windows = torch.zeros(slots, dtype=torch.int64, device=device)
        self.allowed = torch.full((slots, 1), NOBODY, dtype=torch.int64, device=device)

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Refuse a request whose rule cannot be read; it ends in HTTP 400."""
        Rule.of(sampling_params)

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        """Take a slot over from whoever had it."""
        rule = Rule.of(sampling_params)
        before = self.rules.pop(req_idx, None)
        if rule:
            self.rules[req_idx] = rule
        self._written = self._written and rule == before
        return rule is not None

    def apply_staged_writes(self) -> None:
        """Bring the slots' rules to the GPU, if any has changed."""
        if self._written:
            return
        self._written = True
        slots = len(self.sizes)
        widest = max([1, *(len(rule.allowed) for rule in self.rules.values())])
        numbers = torch.zeros(2, slots, dtype=torch.int64)
        allowed = torch.full((slots, widest), NOBODY, dtype=torch.int64)
        for slot, rule in self.rules.items():
            numbers[0, slot], numbers[1, slot] = rule.size, rule.window
            allowed[slot, : len(rule.allowed)] = torch.tensor(sorted(rule.allowed), dtype=torch.int64)
        device = self.sizes.device
        self.sizes, self.windows = numbers.to(device, non_blocking=True)
        self.allowed = allowed.to(device, non_blocking=True)

    def apply(self, logits: torch.Tensor, ctx: LogitsContext) -> torch.Tensor:
        """Set the logits [rows, vocabulary] of banned tokens to -inf, in place."""
        here = [self.rules[slot] for slot in ctx.idx_mapping_np.tolist() if slot in self.rules]
        size = max((rule.size for rule in here), default=0)
        window = max((rule.window for rule in here), default=0)
        if size < 2:
            return logits
        slots = ctx.expanded_idx_mapping.long()
        tokens, banned = bans(
            self.states.all_token_ids.gpu,
            slots,
            ctx.pos.long() + 1,
            self.states.prompt_len.gpu[slots].long(),
            (self.sizes[slots], self.windows[slots], self.allowed[slots]),
            (size, window),
        )
        floor = torch.where(banned, float("-inf"), float("inf")).to(logits.dtype)
        # the smaller of both, so that a token banned at one place and met at another stays banned
        return logits.scatter_reduce_(1, tokens.long(), floor, "amin")


def bans(
    history: torch.Tensor,
    slots: torch.Tensor,
    ends: torch.Tensor,
    starts: torch.Tensor,
    rules: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    widest: tuple[int, int],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Which tokens of each row's window may not come next.

    Args:
        history: tokens of all slots, prompt first [slots, length].
        slots: of each row [rows].
        ends: number of tokens a row has, prompt and output [rows].
        starts: where its output begins [rows].
        rules: n-gram sizes [rows] (0: no rule), windows [rows], allowed tokens [rows, any].
        widest: largest size and window among the rules.

    Returns:
        Tokens [rows, places], and whether each is banned [rows, places].
    """
    sizes, windows, allowed = rules
    size, window = widest
    device = history.device
    # places of the last token of an n-gram, newest first, and steps back from it
    place = ends[:, None] - 1 - torch.arange(max(window - 1, 1), device=device)
    back = torch.arange(1, size, device=device)

    def token(at: torch.Tensor) -> torch.Tensor:
        lines = slots.view(-1, *[1] * (at.dim() - 1))
        return history[lines, at.clamp(0, history.shape[1] - 1)]

    before = token(place[:, :, None] - back)
    prefix = token(ends[:, None] - back)
    same = (before == prefix[:, None, :]) | (back >= sizes[:, None])[:, None, :]
    begin = place - sizes[:, None] + 1
    in_window = begin >= torch.maximum(starts, ends - windows)[:, None]
    found = token(place)
    free = (found[..., None] == allowed[:, None, :]).any(-1)
    return found, same.all(-1) & in_window & (sizes > 1)[:, None] & ~free
