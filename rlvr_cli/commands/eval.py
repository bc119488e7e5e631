"""``rlvr eval``: find the model, inherit its run's configuration, judge, show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rlvr_cli.arguments import Arguments
from rlvr_cli.outputs import need_writable

EPILOGUE = """\
examples:
  rlvr eval checkpoint=outputs/RUN                         greedy accuracy on the run's held-out prompts
  rlvr eval checkpoint=outputs/RUN eval.k=8                and pass@1, 2, 4, 8 from eight draws a prompt
  rlvr eval checkpoint=outputs/RUN baseline=untrained      against what the run started from, pair by pair
  rlvr eval checkpoint=outputs/RUN/checkpoints/step_50     one checkpoint of a run
  rlvr eval checkpoint=Qwen/Qwen2.5-0.5B-Instruct dataset=gsm8k reward=math eval.limit=200
  rlvr eval model=smollm2-135m dataset=arithmetic reward=math      a model option as it comes, untrained
  rlvr eval checkpoint=outputs/B baseline=outputs/A        two runs on the same prompts

A run's template, stop ids, system prompt, data, reward and sampling are inherited; any group=option or key=value here
comes before them. Results: outputs/RUN/eval/NAME/summary.json and samples.jsonl."""


def parser() -> Arguments:
    """The command line of ``rlvr eval``."""
    made = Arguments(
        prog="rlvr eval",
        usage="rlvr eval checkpoint=RUN|DIR|HUB_ID|model=NAME [baseline=untrained|...] [eval.k=8] [eval.limit=200] [key=value]",
        description="Judge a checkpoint with its reward: accuracy and pass@k, each with a 95% interval.",
        epilog=EPILOGUE,
    )
    made.add_argument("words", nargs="*", metavar="key=value", help="checkpoint=, baseline=, eval.*, or anything that rlvr train takes")
    made.add_argument("--json", action="store_true", help="print the summary as JSON instead of a table")
    return made


def run(argv: list[str]) -> int:
    """Evaluate and show; returns the exit code."""
    options = parser().parse_intermixed_args(argv)
    config, target, outputs = prepare(options.words, root="eval")
    need_writable(target.home(outputs) / "eval", where="run.dir", fix="run.dir=FOLDER" if target.run is None else None)
    from rlvr_cli.evaluation.evaluate import evaluate
    from rlvr_cli.evaluation.show import show

    done = evaluate(config, target, outputs=outputs, say=say)
    if options.json:
        print(json.dumps(done.summary, indent=2, ensure_ascii=False))
        return 0
    show(done.summary)
    print(f"written: {done.folder / 'summary.json'}, {done.folder / 'samples.jsonl'}")
    return 0


def say(text: str) -> None:
    """Progress goes to stderr, so that stdout holds the result alone."""
    import sys

    print(text, file=sys.stderr)


def prepare(words: list[str], *, root: str) -> tuple[Any, Any, Path]:
    """The typed configuration, the model it is about, and the folder of runs; every fault a person made is raised here."""
    from rlvr_cli.config.compose import compose
    from rlvr_cli.evaluation.target import find_target

    words = [quoted(word) for word in words]
    outputs = Path(value_of(words, "run.dir") or "outputs")
    if value_of(words, "checkpoint") is None and (value_of(words, "model") or value_of(words, "model.path")):
        return by_model(words, root, outputs)
    target = find_target(value_of(words, "checkpoint") or "", outputs)
    inherited = target.run_config()
    inherited.pop("run", None)  # the old run's name and place are not this command's
    config = compose(words, root=root, inherit=inherited or None).config
    need_reward_and_data(config, target)
    need_whole(target.path, "checkpoint")
    if baseline := value_of(words, "baseline"):
        need_baseline(baseline, outputs)
    return config, target, outputs


def need_baseline(baseline: str, outputs: Path) -> None:
    """The second model is asked last, so whether it can be had is looked at first."""
    from rlvr_cli.evaluation.target import UNTRAINED, find_target

    if baseline not in UNTRAINED:
        need_whole(find_target(baseline, outputs).path, "baseline")


def need_whole(path: str, key: str) -> None:
    """Raise ConfigError where a folder's weights are torn, or a hub id is neither in the cache nor within reach."""
    from rlvr_cli.config import model_files
    from rlvr_cli.data.sources import hub_answers
    from rlvr_cli.errors import ConfigError

    if Path(path).is_dir():
        if torn := model_files.torn_weights(Path(path)):
            raise ConfigError(torn, where=key, fix=f"{key}=OTHER")
    elif model_files.cached(path) is None and not hub_answers():
        raise ConfigError(f"{path} is not in the cache, and the hub does not answer", where=key, fix="rlvr runs")


def by_model(words: list[str], root: str, outputs: Path) -> tuple[Any, Any, Path]:
    """``model=NAME`` in place of a checkpoint: a model as it comes, before any training."""
    from rlvr_cli.config.compose import compose
    from rlvr_cli.evaluation.target import Target, slug

    config = compose(words, root=root).config
    name = slug(value_of(words, "model") or config.model.path)
    need_reward_and_data(config, Target(name, name))
    from rlvr_cli.models import prepare as weights_of

    return config, Target(str(weights_of(config.model, config.seed)), name), outputs


def quoted(word: str) -> str:
    """A path in quotes, so that Hydra's grammar takes any folder's name.

    >>> quoted("checkpoint=outputs/a=b"), quoted("eval.k=2")
    ('checkpoint="outputs/a=b"', 'eval.k=2')
    """
    key, _, value = word.partition("=")
    plain = key in ("checkpoint", "baseline", "sample.out") and not value.startswith(("'", '"')) and '"' not in value
    return f'{key}="{value}"' if plain and any(c in value for c in "=, ()[]{}") else word


def value_of(words: list[str], key: str) -> str | None:
    """The last ``key=value`` among the words, without quotes."""
    found = [word.split("=", 1)[1].strip("\"'") for word in words if word.split("=", 1)[0].lstrip("+") == key and "=" in word]
    return found[-1] if found else None


def need_reward_and_data(config: Any, target: Any) -> None:
    """A model without a run brings neither data nor reward."""
    from rlvr_cli.errors import ConfigError

    data = config.dataset
    if not (data.generator or data.train or data.eval):
        if not Path(target.path).exists():
            what = f"there is no run or folder {target.path!r} here, and a hub model brings no data"
            raise ConfigError(what, where="checkpoint", fix="rlvr runs, or for a hub id: dataset=gsm8k reward=math")
        raise ConfigError(f"{target.path} is no run, so the data must be named", where="dataset", fix="dataset=gsm8k")
    if not config.reward.terms:
        raise ConfigError(f"{target.path} is no run, so the reward must be named", where="reward", fix="reward=math")
