"""`pageloom serve-model` shows the right line."""

import json
import shlex

import pytest

from pageloom.cli.main import main
from pageloom.cli.serve_model import plans_for
from pageloom.engines.vllm.plan import Gpu, Installed, Wish


@pytest.fixture(autouse=True)
def _no_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    from pageloom.cli import serve_model

    monkeypatch.setattr(serve_model, "vllm_command", lambda named: None)
    monkeypatch.setattr(serve_model, "gpus", tuple)


def test_the_line_is_printed_and_nothing_started(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve-model", "--print", "--gpu-memory-gib", "24"]) == 0
    words = shlex.split(capsys.readouterr().out)
    assert words[words.index("serve") + 1] == "deepseek-ai/DeepSeek-OCR-2"
    assert "VLLM_USE_V2_MODEL_RUNNER=0" in words
    assert words[words.index("--limit-mm-per-prompt") + 1] == '{"image": 1}'


def test_the_arithmetic_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve-model", "--explain", "--gpu-memory-gib", "16", "--gpu-share", "0.5"]) == 0
    told = capsys.readouterr().out
    assert "16 GiB x 0.5" in told
    assert "does not fit" in told


def test_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve-model", "--json", "--gpu-memory-gib", "80", "--quantization", "fp8"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["sequences"] == 256
    assert "fp8" in told["arguments"]


def test_without_vllm_nothing_can_be_started(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve-model"]) == 5
    assert "no vllm program" in capsys.readouterr().err


def test_one_server_a_gpu() -> None:
    cards = (Gpu("H200", 140.0),) * 4
    plans = plans_for(Wish("m", tensor_parallel=2), Installed(("vllm",), "0.32.0"), cards)
    assert [plan.environment["CUDA_VISIBLE_DEVICES"] for plan in plans] == ["0,1", "2,3"]
    assert ["--port 8000" in " ".join(plan.arguments) for plan in plans] == [True, False]
