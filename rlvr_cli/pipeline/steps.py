"""The steps of a chain in its folder: what each runs, what it leaves, and whether it is done.

A run folder is asked by its own ``status.json``, a file of samples by being there (it is written whole or not at all), so a
chain that was killed anywhere knows where it is. Steps are numbered by the policy that they lead to::

    1_cold_start/  2_reasoning/  3_accepted.jsonl  3_rejection/  4_pairs.jsonl  4_reward_model/  4_all_scenarios/
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rlvr_cli import run_dir
from rlvr_cli.pipeline.spec import Pipeline, Stage, filled, last_of_each


@dataclass
class Step:
    """One step: ``path`` is the run folder or the file that it leaves; ``base`` is the policy it starts from (None: the pipeline's own)."""

    name: str
    number: int
    stage: Stage
    path: Path
    base: Step | None
    words: list[str]
    left: dict[str, Path] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """``2_reasoning``."""
        return f"{self.number}_{self.name}"

    @property
    def makes_policy(self) -> bool:
        """Whether the chain goes on with what this step trains."""
        return self.stage.run == "train" and self.stage.policy

    @property
    def is_reward_model(self) -> bool:
        """Whether it trains a reward model."""
        return self.stage.run == "train" and not self.stage.policy

    @property
    def done(self) -> bool:
        """Whether it needs no more work."""
        if self.stage.run == "sample":
            return self.path.is_file()
        return run_dir.status_of(self.path)["state"] == "finished" and self.model.is_dir()

    @property
    def model(self) -> Path:
        """Where the weights lie once it is done, adapters merged."""
        merged = self.path / "merged"
        return merged if merged.is_dir() else self.path / "final"

    def compose_words(self, *, chained: bool = True) -> list[str]:
        """The words of a training step; unchained, of the pipeline's own model, for checks before anything ran."""
        words = [filled(word, {name: path for name, path in self.left.items()}) for word in self.words]
        if chained and self.base is not None:
            words += ["model.builder=null", f"model.path='{self.base.model}'", "model.revision=null"]
        return last_of_each([*words, f"run.dir='{self.path.parent}'", f"run.name={self.path.name}"])

    def command(self) -> list[str]:
        """What follows ``rlvr``: train anew, go on from a checkpoint, or sample."""
        if self.stage.run == "sample":
            own = [filled(word, dict(self.left)) for word in self.words]
            return ["sample", f"checkpoint={self.base.path if self.base else ''}", *last_of_each([*own, f"sample.out={self.path}"])]
        if run_dir.is_run(self.path) and run_dir.latest_checkpoint(self.path)[0] is not None:
            return ["train", "--resume", str(self.path)]
        return ["train", *self.compose_words(), *(["--clean"] if self.path.exists() else [])]


def steps_of(pipeline: Pipeline, folder: Path) -> list[Step]:
    """Every step of the chain, in order."""
    steps: list[Step] = []
    number, policy = 1, None
    for name, stage in pipeline.stages.items():
        own = pipeline.given_to.get(name, [])
        words = [*stage.words, *own] if stage.run == "sample" else [*pipeline.common, *stage.words, *pipeline.given, *own]
        path = folder / (f"{number}_{name}.jsonl" if stage.run == "sample" else f"{number}_{name}")
        left = {step.name: step.path for step in steps}
        step = Step(name, number, stage, path, policy, words, left)
        steps.append(step)
        if step.makes_policy:
            policy, number = step, number + 1
    return steps


def pending(steps: list[Step]) -> frozenset[str]:
    """Files and run folders that a step will write and that are not there yet."""
    return frozenset(str(step.path) for step in steps if not step.done)
