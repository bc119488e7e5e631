"""``rlvr config``: the composed configuration, whole or one group with the meaning of each key, and the shell's completion.

$ rlvr config optimizer model=qwen1.5b
optimizer:
  # Peak learning rate. (a number above 0)
  learning_rate: 1.0e-06
  ...
"""

from __future__ import annotations

import argparse
from typing import Any

from rlvr_cli.arguments import Arguments
from rlvr_cli.errors import EXIT_OK, ConfigError

EPILOGUE = """\
examples:
  rlvr config                              the embedded default, every key
  rlvr config trainer                      one group, with what each key means
  rlvr config model=qwen1.5b reward=math   what that line composes to
  rlvr config --resolve hardware           with what `auto` means on this machine
  rlvr config --sources model=tiny         which file each group came from
  source <(rlvr config --completion bash)  tab completion; also zsh and fish"""


def run(argv: list[str]) -> int:
    """Print what was asked for."""
    if argv[:1] == ["--complete"]:
        from rlvr_cli.config.completion import candidates

        print("\n".join(candidates(argv[1] if len(argv) > 1 else "")))
        return EXIT_OK
    args = parser().parse_intermixed_args(argv)
    if args.completion:
        from rlvr_cli.config.completion import script

        print(script(args.completion))
        return EXIT_OK
    return show(args)


def parser() -> Arguments:
    """The flags; words with ``=`` are what ``rlvr train`` would take, a word without is a group or key to show."""
    p = Arguments(
        prog="rlvr config",
        description="Show the composed configuration.",
        epilog=EPILOGUE,
    )
    p.add_argument("words", nargs="*", metavar="GROUP | group=option | key=value")
    p.add_argument("--root", choices=["train", "eval", "sample"], default="train", help="which command's configuration")
    p.add_argument("--resolve", action="store_true", help="settle `auto` and null as the plan would on this machine")
    p.add_argument("--sources", action="store_true", help="the chosen option and its file, for each group")
    p.add_argument("--completion", choices=["bash", "zsh", "fish"], help="print a completion script for this shell")
    return p


def show(args: argparse.Namespace) -> int:
    """Compose and print as YAML."""
    from rlvr_cli.config.compose import compose, frozen_text

    overrides = [w for w in args.words if "=" in w or w.startswith("~")]
    shown = [w for w in args.words if w not in overrides]
    composed = compose(overrides, root=args.root, rules=False)
    if args.sources:
        width = max(map(len, composed.choices))
        for group, option in sorted(composed.choices.items()):
            print(f"{group:<{width}}  {option:<20}  {composed.sources.get(group, '')}")
        return EXIT_OK
    config = resolved(composed.config) if args.resolve else composed.config
    for name in shown:
        print("\n".join(annotated(config, name)))
    if not shown:
        print(frozen_text(config), end="")
    return EXIT_OK


def resolved(config: Any) -> Any:
    """With the plan's decisions written in, and said."""
    from rlvr_cli.launch.freeze import freeze
    from rlvr_cli.launch.machine import read_machine
    from rlvr_cli.launch.plan import solve

    plan = solve(config, read_machine())
    for note in plan.notes:
        print(f"# {note}")
    return freeze(config, plan)


def annotated(config: Any, name: str) -> list[str]:
    """One group or key as YAML, each key under its meaning."""
    import yaml

    from rlvr_cli.config.fields import all_keys, field_at, kind
    from rlvr_cli.config.nearest import nearest_key
    from rlvr_cli.config.options import groups

    data: Any = config.model_dump(mode="json")
    for part in name.split("."):
        if not isinstance(data, dict) or part not in data:
            near = nearest_key(name, [*all_keys(type(config)), *data, *groups()])
            raise ConfigError(
                f"{name!r} is neither a group nor a key", where="rlvr config", fix=f"rlvr config {near}" if near else "rlvr ls"
            )
        data = data[part]
    if not isinstance(data, dict):
        return [yaml.safe_dump({name: data}, sort_keys=False, allow_unicode=True).rstrip()]
    lines = [f"{name}:"]
    for key, value in data.items():
        field = field_at(f"{name}.{key}", type(config))
        if field is not None and field.description:
            lines.append(f"  # {' '.join(field.description.split())} ({kind(field)})")
        text = yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=120).rstrip()
        lines += [f"  {line}" for line in text.splitlines()]
    return lines if data else [f"{name}: {{}}"]
