"""``rlvr train -m sweep.trials=20 'optimizer.learning_rate=tag(log,interval(1e-6,1e-4))'``: a sweep that chooses its next job.

Optuna's TPE sampler (extra ``optuna``) proposes, :func:`~rlvr_cli.sweep.sweep.train_one` returns one float, the held-out
accuracy. The sampler is seeded and no data base is kept: repeated, it proposes the same jobs, finds those that are
finished by their fingerprint, and goes on where it stopped. Words that list values (``a,b``) are chosen among.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlvr_cli.errors import EXIT_FAILED, EXIT_OK, ConfigError, MissingDependency
from rlvr_cli.sweep.expand import Words, parsed, values_of
from rlvr_cli.sweep.jobs import Job

SEED = 0


def optimise(words: list[str], cwd: Path, *, trials: int) -> int:
    """Run ``trials`` jobs one after another; 0 when at least one of them gave an accuracy."""
    from rlvr_cli.sweep.sweep import folder_of, key_of, show_end, train_one

    overrides = parsed(words)
    axes = [o for o in overrides if o.is_sweep_override()]
    if not axes:
        raise ConfigError("nothing varies in this sweep", where="command line", fix="'optimizer.learning_rate=interval(1e-6,1e-4)'")
    fixed = [w for w, o in zip(words, overrides, strict=True) if not o.is_sweep_override()]
    parent = folder_of(fixed, [Words(fixed, [f"{key_of(a.input_line)}=" for a in axes])], cwd)
    parent.mkdir(parents=True, exist_ok=True)
    study = new_study()
    jobs: list[Job] = []
    for number in range(1, trials + 1):
        trial = study.ask()
        chosen = [suggest(trial, axis, cwd) for axis in axes]
        print(f"trial {number}/{trials}: {' '.join(chosen)}", flush=True)
        job = train_one(Words([*fixed, *chosen], chosen), parent, cwd, earlier=jobs)
        jobs += [job] if job.path not in [j.path for j in jobs] else []
        if job.accuracy is None:
            study.tell(trial, state=failed_state())
        else:
            study.tell(trial, job.accuracy)
    show_end(jobs, parent)
    return EXIT_OK if any(job.accuracy is not None for job in jobs) else EXIT_FAILED


def new_study() -> Any:
    """A study that maximises, with a seeded sampler and a quiet log."""
    try:
        import optuna
    except ImportError as error:
        raise MissingDependency("sweep.trials needs optuna", where="command line", fix="pip install 'rlvr[optuna]'") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=SEED))


def failed_state() -> Any:
    """Optuna's word for a trial without a value."""
    from optuna.trial import TrialState

    return TrialState.FAIL


def suggest(trial: Any, override: Any, cwd: Path) -> str:
    """The word that the sampler proposes for one axis."""
    key = override.get_key_element()
    if not override.is_interval_sweep():
        return trial.suggest_categorical(key, values_of(override, cwd))
    interval = override.value()
    log = "log" in interval.tags
    if isinstance(interval.start, int) and isinstance(interval.end, int):
        return f"{key}={trial.suggest_int(key, interval.start, interval.end, log=log)}"
    return f"{key}={trial.suggest_float(key, interval.start, interval.end, log=log):.6g}"
