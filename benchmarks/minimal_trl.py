"""What a person writes by hand to train the tiny model with TRL: no records, no evaluation, no guards. The yardstick of step_time.py.

python benchmarks/minimal_trl.py MODEL_FOLDER STEPS TIMES.json
"""

from __future__ import annotations

import json
import sys
import time

from datasets import Dataset
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from rewards.math import correct
from rlvr_cli.config.schema import Dataset as Settings
from rlvr_cli.data import load


class Clock(TrainerCallback):
    """The moment each step ended."""

    def __init__(self):
        self.times = []

    def on_log(self, args, state, control, **kwargs):
        self.times.append(time.monotonic())


def main() -> None:
    model, steps, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    rows = load(Settings(generator="arithmetic", count=4000, eval_count=500), seed=0).train
    clock = Clock()
    args = GRPOConfig(
        output_dir=out + ".d", max_steps=steps, per_device_train_batch_size=128, gradient_accumulation_steps=1, num_generations=8,
        max_completion_length=32, learning_rate=4e-4, lr_scheduler_type="linear", use_cpu=True, bf16=False, logging_steps=1,
        gradient_checkpointing=False, save_strategy="no", report_to="none", seed=0, disable_tqdm=True,
    )  # fmt: skip
    trainer = GRPOTrainer(model=model, reward_funcs=correct, args=args, train_dataset=Dataset.from_list(rows), callbacks=[clock])
    trainer.train()
    with open(out, "w") as file:
        json.dump(clock.times[:steps], file)


if __name__ == "__main__":
    main()
