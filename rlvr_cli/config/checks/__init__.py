"""Settings that contradict each other, each a small function: it raises one line that names both keys and what to type.

No files, no torch, no machine: a rule sees only the typed configuration, so every rule runs each time one is composed.
Several are settings that TRL takes without a word and then trains something else (cispo with TRL's own epsilon, a reference
that is never loaded). A rule may also return a sentence: nothing is wrong, but a person should know::

    check(config)        # raises ConfigError: trainer.bf16 and trainer.fp16 are both on (set in: ...). Type: trainer.fp16=false
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rlvr_cli.config.checks import cadence, generation, hardware, objective, precision, presence, records, turns
from rlvr_cli.config.schema import Config
from rlvr_cli.errors import RlvrError

Rule = Callable[[Config], "str | None"]

# Where a stage has no objective (supervised, preferences), these have nothing to say.
OF_THE_OBJECTIVE: tuple[Rule, ...] = (
    objective.cispo_bound, objective.sequence_ratio, objective.clip_range, objective.reference_model, objective.kl_control,
    objective.adaptive_entropy, objective.early_stop, objective.aggregation, objective.extra_fields,
    generation.untruncated_sampling, generation.vespo_mode, generation.long_sequences, generation.context_length,
    generation.length_stages, generation.server_flags,
    cadence.curriculum_band, cadence.dynamic_sampling, cadence.save_on_boundary, cadence.steps_per_generation,
)  # fmt: skip
# In the order in which a person should hear of them.
RULES: tuple[Rule, ...] = (
    presence.stage, presence.has_model, presence.has_data, presence.has_reward, presence.hostile_inline,
    precision.one_half_precision, precision.fp16_needs_gpu, precision.half_weights_need_masters, precision.dtype_fits_training,
    precision.flash_attention,
    *OF_THE_OBJECTIVE,
    hardware.adapters, hardware.qlora, hardware.offload, hardware.devices, hardware.several_nodes,
    cadence.length, cadence.learning_rate,
    records.trackers, records.no_secrets, records.run_name, records.remote_code, records.template_text,
    turns.environment, turns.turns_on_ranks,
)  # fmt: skip


def check(config: Config) -> list[str]:
    """Apply every rule; raises the first contradiction, returns the sentences worth reading."""
    return [said for rule in rules_of(config) if (said := rule(config))]


def rules_of(config: Config) -> list[Rule]:
    """The rules that apply: those of the objective only where the stage has one."""
    return [rule for rule in RULES if config.stage.kind == "rl" or rule not in OF_THE_OBJECTIVE]


def faults(config: Config) -> Iterator[tuple[str, str | None, RlvrError | None]]:
    """(rule's name, sentence or None, error or None) of every rule, for a list of all that is wrong."""
    for rule in rules_of(config):
        try:
            yield rule.__name__, rule(config), None
        except RlvrError as error:
            yield rule.__name__, None, error
