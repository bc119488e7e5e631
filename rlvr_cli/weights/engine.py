"""The server's side of a weight update without CUDA: load the safetensors file in shared memory into the model.

vLLM's own engines need NCCL or CUDA handles. This one goes through vLLM's layerwise reload, because the CPU kernels keep
prepacked copies of the weights that a bare ``load_weights`` would not reach. Updates are numbered: a server that was
restarted, or that missed one, refuses the next and so stops the run, instead of answering from old weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from vllm.distributed.weight_transfer.base import WeightTransferEngine, WeightTransferInitInfo, WeightTransferUpdateInfo
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead
from vllm.model_executor.model_loader.reload import finalize_layerwise_reload, initialize_layerwise_reload

from rlvr_cli.weights import shared_file


@dataclass
class InitInfo(WeightTransferInitInfo):
    """Which run speaks, said once."""

    run: str


@dataclass
class UpdateInfo(WeightTransferUpdateInfo):
    """path: the file; seq: 1 for the first update of the run; tensors: how many the file must hold."""

    run: str
    seq: int
    path: str
    tensors: int


class SharedMemoryEngine(WeightTransferEngine[InitInfo, UpdateInfo]):
    """Registered as ``rlvr_shm``."""

    init_info_cls = InitInfo
    update_info_cls = UpdateInfo

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.run: str | None = None
        self.seq = 0
        self.views: dict[str, torch.Tensor] = {}

    def init_transfer_engine(self, init_info: InitInfo) -> None:
        """A run starts its count."""
        self.run, self.seq, self.views = init_info.run, 0, {}

    def start_weight_update(self) -> None:
        """Put the layers where weights can be loaded."""
        initialize_layerwise_reload(self.model)

    def finish_weight_update(self) -> None:
        """Process and place what was loaded."""
        finalize_layerwise_reload(self.model, self.model_config)
        self.repack_tied_heads()

    def repack_tied_heads(self) -> None:
        """An output head tied to the embeddings gets no tensor of its own, so the reload leaves its prepacked copy at the old weights."""
        if not getattr(self.model_config.hf_config, "tie_word_embeddings", False):
            return
        for module in self.model.modules():
            if isinstance(module, ParallelLMHead):
                module.quant_method.process_weights_after_loading(module)

    def update_weights(self, update_info: dict[str, Any]) -> None:
        """Load the file. The base class would synchronize an accelerator that a CPU server does not have."""
        info = self.parse_update_info(update_info)
        if info.run != self.run or info.seq != self.seq + 1:
            here = f"this server is at {self.seq} of {self.run}"
            raise ValueError(f"update {info.seq} of run {info.run}, but {here}: it was restarted or missed one")
        self.receive_weights(info)
        self.seq = info.seq

    def receive_weights(self, update_info: UpdateInfo) -> None:
        """Every tensor of the file, mapped once a run: the trainer writes in place, so the views show each update."""
        if not self.views:
            self.views = shared_file.views(Path(update_info.path))
        if len(self.views) != update_info.tensors:
            raise ValueError(f"{update_info.path} holds {len(self.views)} tensors, not {update_info.tensors}")
        with torch.no_grad():
            loaded = self.model.load_weights(iter(self.views.items()))
        if loaded is not None:
            self.refuse_missing(loaded)

    def refuse_missing(self, loaded: set[str]) -> None:
        """Every parameter of the model must have been in the file; an output head that is tied to the embeddings comes with them."""
        tied = getattr(self.model_config.hf_config, "tie_word_embeddings", False)
        missing = [name for name, _ in self.model.named_parameters() if name not in loaded and not (tied and "lm_head" in name)]
        if missing:
            raise ValueError(f"the update left out {len(missing)} parameters, {missing[0]} first")

    def shutdown(self) -> None:
        """Forget the run."""
        self.run, self.views = None, {}
