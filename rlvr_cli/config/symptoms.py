"""What a log's lines mean: a pattern, what happened, what to do. ``rlvr doctor`` reads logs with this table.

Each entry is a failure that was met or that its project's tracker describes; the order is the order of trust, for one
failure often leaves several of these lines (a dead rank 0 makes rank 1 time out).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Symptom:
    """A recognised failure. ``consequence`` marks lines that another failure usually causes."""

    name: str
    pattern: str
    what: str
    do: str
    consequence: bool = False


SYMPTOMS = (
    Symptom(
        "gpu out of memory",
        r"CUDA out of memory|torch\.OutOfMemoryError|cudaErrorMemoryAllocation",
        "the GPU's memory ran out",
        "halve trainer.per_device_train_batch_size and double trainer.gradient_accumulation_steps; "
        "trainer.gradient_checkpointing=true; peft=lora",
    ),
    Symptom(
        "host out of memory",
        r"DefaultCPUAllocator: can't allocate|Cannot allocate memory|MemoryError|Out of memory: Killed process|"
        r"exitcode\s*:?\s*-9|SIGKILL|exit code -9",
        "the machine's memory ran out, or something killed a process with SIGKILL",
        "a smaller model or batch, generation.kv_cache_gib lower; `dmesg | tail` says whether the kernel did it",
    ),
    Symptom(
        "disk full",
        r"No space left on device|Disk quota exceeded",
        "the disk is full",
        "run.dir=FOLDER_WITH_ROOM, trainer.save_total_limit=1",
    ),
    Symptom(
        "shared memory",
        r"/dev/shm.*(?:No space|Bus error)|Bus error|unable to (?:open|write).*shared memory|insufficient shared memory",
        "/dev/shm is too small",
        "start the container with --shm-size=8g (or --ipc=host)",
    ),
    Symptom(
        "server context",
        r"maximum context length|longer than the maximum model length|max_model_len.*(?:exceed|greater|longer)|prompt is too long",
        "a prompt with its completion is longer than the server's context",
        "dataset.max_prompt_tokens=512, or a larger generation.max_model_len",
    ),
    Symptom(
        "server memory",
        r"Available memory on node .* less than|No available memory for the cache blocks|Not enough memory.*KV cache|"
        r"free memory.*less than desired GPU memory",
        "vLLM found too little memory for its cache",
        "generation.kv_cache_gib=1 on CPU; on GPU a lower generation.gpu_memory_utilization, or the GPU is in use",
    ),
    Symptom(
        "server package",
        r"PackageNotFoundError.*vllm|No package metadata was found for vllm",
        "the `vllm` script of the CPU build looks for a package of another name",
        "start it through rlvr train; the launcher works around it",
    ),
    Symptom(
        "torchvision mismatch",
        r"operator torchvision::nms does not exist|torchvision::nms",
        "torchvision does not match this torch build, and every import of image code fails",
        "pip uninstall -y torchvision torchaudio torchcodec",
    ),
    Symptom(
        "stale build lock",
        r"torch_extensions.*lock|FileBaton|Using .*torch_extensions.* as PyTorch extensions root",
        "a torch extension is being built, or waits for a lock that a killed build left",
        "rlvr doctor lists stale locks; remove them",
        consequence=True,
    ),
    Symptom(
        "compiler missing",
        r"RuntimeError: Error building extension|g\+\+: (?:not found|command not found)|Could not find a C\+\+ compiler|"
        r"CUDA_HOME.*not (?:set|exist)",
        "a DeepSpeed or torch extension could not be compiled",
        "apt-get install g++ (for GPUs also the CUDA toolkit of torch's version), or optimizer.optim=adamw_torch hardware.offload=none",
    ),
    Symptom(
        "deepspeed world",
        r"DP world size of \d+ but the current world size|checkpoint being loaded used a DP world size",
        "the checkpoint was written by another number of ranks",
        "resume with the same hardware=, or start a new run from its weights: model=hf model.path=RUN/last",
    ),
    Symptom(
        "deepspeed without launcher",
        r"No module named 'mpi4py'",
        "DeepSpeed was started without a launcher",
        "start through rlvr train, or torchrun --nproc-per-node 1",
    ),
    Symptom(
        "resume on cpu",
        r"don't know how to restore data location.*cpu:0|tagged with cpu:0",
        "several CPU ranks without DeepSpeed can not resume",
        "hardware.zero_stage=0 or 2",
    ),
    Symptom(
        "zero3 trace",
        r"pop from an empty deque",
        "DeepSpeed ZeRO-3 lost its trace of the modules",
        "hardware.zero_stage=2; it is known upstream (DeepSpeed 4899)",
    ),
    Symptom(
        "liger",
        r"liger_kernel.*not (?:found|installed)|No module named 'liger_kernel'",
        "the fused loss was asked for and its package is not there",
        "pip install liger-kernel, or ~algorithm.extra.use_liger_kernel",
    ),
    Symptom(
        "gated model",
        r"GatedRepoError|You are trying to access a gated repo|401 Client Error|Access to model .* is restricted",
        "the model's licence has not been accepted, or no token is set",
        "accept it on the model's page, then `hf auth login`",
    ),
    Symptom(
        "hub unreachable",
        r"LocalEntryNotFoundError|OfflineModeIsEnabled|couldn't connect to|Max retries exceeded with url|"
        r"Temporary failure in name resolution",
        "the hub can not be reached and the files are not in the cache",
        "model=tiny or model=hf model.path=FOLDER; download on a machine with network and copy the cache",
    ),
    Symptom(
        "not finite",
        r"(?:loss|grad_norm|reward|logits?)\b.{0,40}\b(?:is not finite|nan|inf)\b|probability tensor contains either `inf`",
        "a number left the finite range",
        "a lower optimizer.learning_rate, trainer.bf16=true instead of fp16, optimizer.max_grad_norm=1.0",
    ),
    Symptom(
        "parity",
        r"parity probe|log-?probs? .*differ.*(?:bound|server)",
        "trainer and server disagree about the same tokens: the server's weights are not the trainer's",
        "rlvr train --resume RUN restarts the server from the checkpoint; if it repeats, report it with the log",
    ),
    Symptom(
        "reward raised",
        r"RewardError|could not be judged|unjudged",
        "a reward broke its contract, or too many rows could not be judged",
        "rlvr reward audit FN; the line names the sample",
    ),
    Symptom(
        "address in use",
        r"Address already in use|EADDRINUSE|address in use",
        "another process has the port",
        "start again: ports are chosen afresh; leave hardware.master_port null",
    ),
    Symptom(
        "weight update active",
        r"weight update is already active",
        "a trainer died in the middle of a weight update, and the server still waits for it",
        "rlvr train --resume RUN starts a fresh server",
    ),
    Symptom(
        "server lost",
        r"RemoteDisconnected|Connection refused|ConnectionResetError|Connection aborted|NewConnectionError",
        "the generation server stopped answering",
        "read logs/server.N.log; rlvr train --resume RUN",
        consequence=True,
    ),
    Symptom(
        "collective timeout",
        r"Watchdog caught collective operation timeout|NCCL (?:error|timeout)|Timed out waiting .*(?:gloo|store)|"
        r"ProcessGroup.*(?:timed out|timeout)|Connection closed by peer",
        "a rank waited for another one that had gone or hung",
        "the first rank that failed says why; on several nodes set NCCL_SOCKET_IFNAME (GLOO_SOCKET_IFNAME on CPU)",
        consequence=True,
    ),
    Symptom("interrupted", r"KeyboardInterrupt|SIGINT|signal 2\b", "the run was interrupted", "rlvr train --resume RUN", consequence=True),
)


def recognise(lines: Iterable[str]) -> list[tuple[Symptom, int, str]]:
    """(symptom, how often, the last such line) for each failure that the lines show; causes before consequences."""
    counts: dict[str, tuple[int, str]] = {}
    compiled = [(s, re.compile(s.pattern, re.IGNORECASE)) for s in SYMPTOMS]
    for line in lines:
        for symptom, pattern in compiled:
            if len(line) < 20_000 and pattern.search(line):
                counts[symptom.name] = (counts.get(symptom.name, (0, ""))[0] + 1, line.strip())
                break
    found = [(s, *counts[s.name]) for s in SYMPTOMS if s.name in counts]
    return sorted(found, key=lambda entry: entry[0].consequence)
