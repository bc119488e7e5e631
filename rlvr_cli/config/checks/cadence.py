"""Which prompts, how many steps, and what happens on which of them."""

from __future__ import annotations

from rlvr_cli.config.schema import Config
from rlvr_cli.errors import ConfigError


def curriculum_band(config: Config) -> str | None:
    """A band has a width, and pass rates need groups that can tell them apart."""
    c, size = config.curriculum, config.algorithm.num_generations
    if c.kind == "pass_rate" and c.low >= c.high:
        raise ConfigError(
            f"curriculum.low={c.low:g} is not below curriculum.high={c.high:g}, so no pass rate is kept",
            where="curriculum.low, curriculum.high",
            fix="curriculum.low=0.1 curriculum.high=0.9",
        )
    if c.kind != "difficulty" and (c.order or c.levels):
        key = "order" if c.order else "levels"
        raise ConfigError(
            f"curriculum.{key} is read by curriculum.kind=difficulty only, and the kind is {c.kind}",
            where=f"curriculum.{key}",
            fix="curriculum=difficulty",
        )
    if c.order and c.levels:
        raise ConfigError(
            "curriculum.order names levels of text, curriculum.levels cuts numbers", where="curriculum", fix="curriculum.levels=null"
        )
    if c.kind == "pass_rate" and c.low > 0 and 1 / size > c.low:
        return f"with algorithm.num_generations={size} the lowest pass rate above 0 is {1 / size:.2g}, above curriculum.low={c.low:g}"
    return None


def dynamic_sampling(config: Config) -> str | None:
    """A refill asks new prompts in the middle of a generation; an environment was reset for the old ones."""
    d = config.algorithm.dynamic_sampling
    if d.max_rounds and config.environment.fn:
        raise ConfigError(
            "algorithm.dynamic_sampling replaces prompts after environment.fn was reset for others",
            where="algorithm.dynamic_sampling.max_rounds, environment.fn",
            fix="algorithm.dynamic_sampling.max_rounds=0, and curriculum=pass_rate instead",
        )
    if not d.max_rounds and d.oversample > 1:
        raise ConfigError(
            f"algorithm.dynamic_sampling.oversample={d.oversample:g} does nothing while max_rounds is 0",
            where="algorithm.dynamic_sampling",
            fix="algorithm.dynamic_sampling.max_rounds=3",
        )
    return None


def save_on_boundary(config: Config) -> str | None:
    """A checkpoint inside a generation cycle would resume with other completions than the run that went on."""
    a, t = config.algorithm, config.trainer
    cycle = (a.steps_per_generation or t.gradient_accumulation_steps) * a.num_iterations
    micro = t.save_steps * t.gradient_accumulation_steps
    if t.save_steps and micro % cycle:
        unit = next(n for n in range(1, cycle + 1) if n * t.gradient_accumulation_steps % cycle == 0)
        legal = max(unit, round(t.save_steps / unit) * unit)
        raise ConfigError(
            f"trainer.save_steps={t.save_steps} falls inside a generation cycle of {unit} steps "
            f"(algorithm.num_iterations={a.num_iterations}, steps_per_generation={a.steps_per_generation})",
            where="trainer.save_steps",
            fix=f"trainer.save_steps={legal}",
        )
    return None


def steps_per_generation(config: Config) -> str | None:
    """The token mean of dapo is exact over a step only if one generation feeds one step."""
    a, t = config.algorithm, config.trainer
    spg = a.steps_per_generation
    if spg is None or spg == t.gradient_accumulation_steps:
        return None
    if spg % t.gradient_accumulation_steps and t.gradient_accumulation_steps % spg:
        low = max(t.gradient_accumulation_steps, spg // t.gradient_accumulation_steps * t.gradient_accumulation_steps)
        raise ConfigError(
            f"algorithm.steps_per_generation={spg} and trainer.gradient_accumulation_steps={t.gradient_accumulation_steps} "
            "do not divide each other",
            where="algorithm.steps_per_generation",
            fix=f"algorithm.steps_per_generation={low}",
        )
    if a.loss_type in ("dapo", "cispo", "vespo"):
        return f"with steps_per_generation={spg} the token mean of {a.loss_type} is taken over a generation, not over each step"
    return None


def length(config: Config) -> str | None:
    """A run has steps, and one that ends before its warm-up never reaches its learning rate."""
    t, o = config.trainer, config.optimizer
    if t.max_steps == 0:
        raise ConfigError("trainer.max_steps=0 trains nothing", where="trainer.max_steps", fix="trainer.max_steps=100, or rlvr eval")
    if 0 < t.max_steps < o.warmup_steps:
        return f"the run ends in its warm-up: trainer.max_steps={t.max_steps}, optimizer.warmup_steps={o.warmup_steps}"
    return None


def learning_rate(config: Config) -> str | None:
    """Rates that published runs never use are worth a word."""
    real = (config.model.parameters or 0) >= 5e7 and not config.model.builder
    if real and config.peft.kind == "none" and config.optimizer.learning_rate > 1e-4:
        return f"optimizer.learning_rate={config.optimizer.learning_rate:g} is high for full fine-tuning; published runs use 1e-6 to 5e-6"
    return None
