"""`pageloom serve-model`: the right vLLM server for this machine, shown or started."""

import json
import os
import shlex
import sys
from dataclasses import replace
from typing import Annotated

import typer

from pageloom.engines.vllm.found import gpus, installed, vllm_command
from pageloom.engines.vllm.plan import CONTEXT_TOKENS, Gpu, Installed, Plan, Wish, plan, quantized_as
from pageloom.errors import EngineUnavailable, SettingsError


def serve_model(  # noqa: PLR0913 - one parameter an option
    model: Annotated[str, typer.Argument(help="Folder of the checkpoint, or its public name.")] = (
        "deepseek-ai/DeepSeek-OCR-2"
    ),
    *,
    gpu_memory_gib: Annotated[
        float | None,
        typer.Option("--gpu-memory-gib", min=1, help="Plan for a card of this size (16, 24, 40, 80 ...)."),
    ] = None,
    gpu_share: Annotated[
        float, typer.Option("--gpu-share", min=0.05, max=1, help="Part of the GPU's memory to take.")
    ] = 0.9,
    tensor_parallel: Annotated[int, typer.Option("--tensor-parallel", min=1, help="GPUs that share one model.")] = 1,
    data_parallel: Annotated[
        int, typer.Option("--data-parallel", min=1, help="vLLM's own copies; several servers are usually faster.")
    ] = 1,
    quantization: Annotated[
        str | None,
        typer.Option("--quantization", help="fp8 on the fly; AWQ and GPTQ checkpoints need no option."),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port of the first server.")] = 8000,
    command: Annotated[str, typer.Option("--vllm", metavar="PROGRAM", help="The vllm program.")] = "",
    print_only: Annotated[bool, typer.Option("--print", help="Print the line and start nothing.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print the line and why it is so.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For machines; starts nothing.")] = False,
) -> None:
    """Start vLLM for DeepSeek-OCR-2 with the options that fit this machine and the installed version."""
    wish = Wish(
        model=model,
        host=host,
        port=port,
        memory_gib=gpu_memory_gib,
        gpu_share=gpu_share,
        tensor_parallel=tensor_parallel,
        data_parallel=data_parallel,
        quantization=quantization,
    )
    here = _vllm(command, needed=not (print_only or explain or as_json))
    cards = gpus()
    plans = plans_for(wish, here, cards)
    if as_json:
        print(json.dumps([_told(one) for one in plans], indent=2))
    elif print_only or explain:
        for one in plans:
            print(shell_line(one))
        for reason in _reasons(plans, wish, here) if explain else ():
            print(f"# {reason}")
    elif len(plans) > 1:
        raise SettingsError(f"{len(plans)} GPUs: start one server for each (--print shows the lines)")
    else:
        print(shell_line(plans[0]), file=sys.stderr, flush=True)
        become = ["/usr/bin/env", *_assignments(plans[0]), *plans[0].arguments]
        os.execv(become[0], become)  # noqa: S606 - no shell; this process becomes the server


def _vllm(named: str, *, needed: bool) -> Installed:
    """The installed vLLM; without one a line can still be shown, with every option of the newest version tried."""
    command = vllm_command(named)
    if command is not None:
        return installed(command)
    if needed:
        raise EngineUnavailable("no vllm program was found: pip install 'pageloom[vllm]', or --vllm PROGRAM")
    return Installed(("vllm",))


def plans_for(wish: Wish, here: Installed, cards: tuple[Gpu, ...]) -> list[Plan]:
    """One server for every GPU, or for every group that shares a model."""
    groups = max(1, len(cards) // (wish.tensor_parallel * wish.data_parallel))
    cores = max(1, (os.cpu_count() or 1) // groups)
    made = []
    for number in range(groups):
        one = plan(replace(wish, port=wish.port + number), here, cards[0] if cards else None, cores)
        if groups > 1:
            first = number * wish.tensor_parallel * wish.data_parallel
            shown = ",".join(str(n) for n in range(first, first + wish.tensor_parallel * wish.data_parallel))
            one = replace(one, environment={**one.environment, "CUDA_VISIBLE_DEVICES": shown})
        made.append(one)
    return made


def _assignments(one: Plan) -> list[str]:
    return [f"{name}={value}" for name, value in sorted(one.environment.items())]


def shell_line(one: Plan) -> str:
    """A plan as a line for a shell."""
    return " ".join([*_assignments(one), shlex.join(one.arguments)])


def _reasons(plans: list[Plan], wish: Wish, here: Installed) -> list[str]:
    version = f"vllm {here.version}" if here.version else "no vllm is installed here: flags as of vLLM 0.32"
    reasons = [version, *plans[0].why]
    method = quantized_as(wish.model)
    if method:
        reasons.append(f"the checkpoint is quantised ({method}): vLLM reads that from its config.json")
    if plans[0].left_out:
        reasons.append(f"not in this version, left out: {', '.join(plans[0].left_out)}")
    if len(plans) > 1:
        reasons.append(f"{len(plans)} servers, one a GPU: data parallelism inside vLLM would couple their steps")
    reasons.append(f"{CONTEXT_TOKENS} tokens are the model's whole context: a page and its text share them")
    if wish.host not in {"127.0.0.1", "localhost", "::1"}:
        reasons.append("listens beyond this machine: --api-key guards /v1 only, put a proxy in front")
    return reasons


def _told(one: Plan) -> dict[str, object]:
    return {
        "environment": dict(one.environment),
        "arguments": list(one.arguments),
        "sequences": one.sequences,
        "why": list(one.why),
        "left_out": list(one.left_out),
    }
