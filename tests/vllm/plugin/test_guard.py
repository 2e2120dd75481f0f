"""The guard bans what the reference bans, whatever comes, goes, moves and arrives late."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pageloom_vllm.guard import NOT_YET, NGramGuard
from pageloom_vllm.guard_v2 import NGramGuardV2
from vllm.model_executor.models.deepseek_ocr import NGramPerReqLogitsProcessor
from vllm.v1.sample.logits_processor.interface import BatchUpdate, LogitsProcessor, MoveDirectionality

from vllm import SamplingParams

pytestmark = pytest.mark.vllm
WORDS = 6  # so few that n-grams repeat
VOCABULARY = 12
CONFIG: Any = SimpleNamespace(
    scheduler_config=SimpleNamespace(max_num_seqs=8),
    model_config=SimpleNamespace(max_model_len=256),
    speculative_config=None,
)
CPU = torch.device("cpu")

texts = st.lists(st.integers(0, WORDS - 1), max_size=60)
rules = st.fixed_dictionaries(
    {"ngram_size": st.integers(1, 5)},
    optional={
        "window_size": st.integers(1, 40),
        "whitelist_token_ids": st.lists(st.integers(0, WORDS - 1), max_size=2),
    },
) | st.just({})


def params(rule: dict[str, Any]) -> SamplingParams:
    return SamplingParams(extra_args=dict(rule) or None)


def changed(processor: LogitsProcessor, rows: int) -> torch.Tensor:
    return processor.apply(torch.zeros(rows, VOCABULARY))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(rules, texts), min_size=1, max_size=6))
def test_same_bans_as_the_reference(requests: list[tuple[dict[str, Any], list[int]]]) -> None:
    ours, reference = NGramGuard(CONFIG, CPU, False), NGramPerReqLogitsProcessor(CONFIG, CPU, False)
    added = [(row, params(rule), [], text) for row, (rule, text) in enumerate(requests)]
    for processor in (ours, reference):
        processor.update_state(BatchUpdate(len(requests), removed=[], added=added, moved=[]))
    assert torch.equal(changed(ours, len(requests)), changed(reference, len(requests)))


class Batch:
    """vLLM's batch as the processors see it: rows come, go and move; tokens come late."""

    def __init__(self) -> None:
        self.ours = NGramGuard(CONFIG, CPU, False)
        self.reference = NGramPerReqLogitsProcessor(CONFIG, CPU, False)
        self.rows: list[list[int]] = []

    def update(self, **what: list[Any]) -> None:
        whole = {"removed": [], "added": [], "moved": []} | what
        for processor in (self.ours, self.reference):
            processor.update_state(BatchUpdate(len(self.rows), **whole))

    def add(self, rule: dict[str, Any], text: list[int]) -> None:
        self.rows.append(list(text))
        self.update(added=[(len(self.rows) - 1, params(rule), [], self.rows[-1])])

    def remove(self, row: int) -> None:
        last = len(self.rows) - 1
        self.rows[row] = self.rows[last]
        self.rows.pop()
        moved = [(last, row, MoveDirectionality.UNIDIRECTIONAL)] if row != last else []
        self.update(removed=[row], moved=moved)

    def swap(self, row: int, other: int) -> None:
        self.rows[row], self.rows[other] = self.rows[other], self.rows[row]
        self.update(moved=[(row, other, MoveDirectionality.SWAP)])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_same_bans_while_requests_come_go_and_write(data: st.DataObject) -> None:
    batch = Batch()
    for _ in range(data.draw(st.integers(1, 25))):
        act = data.draw(st.sampled_from("aarswwww"))
        rows = st.integers(0, len(batch.rows) - 1) if batch.rows else None
        if act == "a" and len(batch.rows) < 8:
            batch.add(data.draw(rules), data.draw(texts))
        elif act == "r" and rows is not None:
            batch.remove(data.draw(rows))
        elif act == "s" and len(batch.rows) > 1:
            first, second = data.draw(st.lists(rows, min_size=2, max_size=2, unique=True))
            batch.swap(first, second)
        elif act == "w":
            late = data.draw(st.booleans())
            for tokens in batch.rows:
                token = data.draw(st.integers(0, WORDS - 1))
                if tokens and tokens[-1] == NOT_YET:
                    tokens[-1] = token
                tokens.append(NOT_YET if late else token)
        count = len(batch.rows)
        assert torch.equal(changed(batch.ours, count), changed(batch.reference, count))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(rules, texts, st.integers(0, 9)), min_size=1, max_size=6))
def test_model_runner_v2_bans_the_same(requests: list[tuple[dict[str, Any], list[int], int]]) -> None:
    slots = 9
    history = torch.full((slots, 128), 3, dtype=torch.int32)
    prompts = torch.zeros(slots, dtype=torch.int32)
    states: Any = SimpleNamespace(
        max_num_reqs=slots,
        device=CPU,
        all_token_ids=SimpleNamespace(gpu=history),
        prompt_len=SimpleNamespace(gpu=prompts),
    )
    ours = NGramGuardV2(CONFIG, states)
    reference = NGramPerReqLogitsProcessor(CONFIG, CPU, False)
    order = list(range(slots))[::-1][: len(requests)]  # rows are not slots
    ends, added = [], []
    for slot, (rule, text, prompt) in zip(order, requests, strict=True):
        assert ours.add_request(slot, params(rule)) == bool(rule)
        prompts[slot] = prompt
        history[slot, prompt : prompt + len(text)] = torch.tensor(text, dtype=torch.int32)
        ends.append(prompt + len(text))
        added.append((len(added), params(rule), [], text))
    ours.apply_staged_writes()
    reference.update_state(BatchUpdate(len(requests), removed=[], added=added, moved=[]))
    context: Any = SimpleNamespace(
        expanded_idx_mapping=torch.tensor(order), idx_mapping_np=np.array(order), pos=torch.tensor(ends) - 1
    )
    got = ours.apply(torch.zeros(len(requests), VOCABULARY), context)
    assert torch.equal(got, changed(reference, len(requests)))


@pytest.mark.parametrize(
    "rule",
    [
        {"ngram_size": 0},
        {"ngram_size": "20"},
        {"ngram_size": 2, "window_size": 0},
        {"ngram_size": 2, "whitelist_token_ids": 3},
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(rule: dict[str, Any]) -> None:
    for guard in (NGramGuard, NGramGuardV2):
        with pytest.raises(ValueError, match="has to be"):
            guard.validate_params(params(rule))


def test_a_request_without_a_rule_costs_nothing() -> None:
    guard = NGramGuard(CONFIG, CPU, False)
    guard.update_state(BatchUpdate(1, removed=[], added=[(0, params({}), [], [1, 1, 1])], moved=[]))
    assert not guard.requests
