"""``rlvr lab``: the objective in NumPy, learning before your eyes; ``hack`` and ``groups`` show what goes wrong and why."""

from __future__ import annotations

import time
from pathlib import Path

from rlvr_cli.arguments import Arguments
from rlvr_cli.errors import EXIT_FAILED, EXIT_OK, MissingDependency

EPILOGUE = """\
examples:
  rlvr lab                      the expression game: a table of logits climbs from nothing
  rlvr lab --seed 2 --png climb.png
  rlvr lab hack                 a hacked verifier and a length collapse, each with its cure
  rlvr lab groups               what group size does to the baseline and to dead groups
the derivation: docs/objective.md"""


def parser() -> Arguments:
    """The verb's arguments."""
    p = Arguments(
        prog="rlvr lab",
        description="GRPO on a table of logits, in NumPy, in under a minute.",
        epilog=EPILOGUE,
    )
    p.add_argument("experiment", nargs="?", choices=("climb", "hack", "groups"), default="climb")
    p.add_argument("--seed", type=int, default=0, help="seeds sampling (default 0)")
    p.add_argument("--png", type=Path, metavar="FILE", help="also draw the climb to a PNG (needs matplotlib)")
    p.add_argument("--force", action="store_true", help="write over a picture that exists")
    return p


def run(argv: list[str]) -> int:
    """Exit code 0 only if the experiment showed what it is there to show."""
    args = parser().parse_args(argv)
    if args.png:
        claim_picture(args.png, force=args.force)
    if args.experiment == "climb":
        return climb(args.seed, args.png)
    return hack(args.seed) if args.experiment == "hack" else groups(args.seed)


def claim_picture(path: Path, *, force: bool) -> None:
    """Found wanting before a minute of learning, not after it."""
    from rlvr_cli.machine import installed
    from rlvr_cli.outputs import claim

    if not installed("matplotlib"):
        raise MissingDependency("a PNG needs matplotlib", where="--png", fix="pip install 'rlvr[plots]'")
    claim(path, overwrite=force, where="--png", fix="--force, or another --png")


def climb(seed: int, png: Path | None) -> int:
    """Learn the game, line by line, then the picture and the sentence."""
    from rlvr_cli.lab import constants as c
    from rlvr_cli.lab.game import all_prompts, split
    from rlvr_cli.lab.learn import Row, learn
    from rlvr_cli.lab.plot import chart, save_png

    train, held_out = split()
    print(f"expression game: {len(all_prompts())} prompts, {len(train)} train, {len(held_out)} held out; G {c.GROUP_SIZE}, seed {seed}")
    print(f"{'iteration':>9}  {'reward':>7}  {'ill-formed':>10}  {'KL (nats)':>9}  {'dead groups':>11}  {'held-out greedy':>15}")

    def watch(row: Row) -> None:
        if row["iteration"] in (1, 2, 5) or row["iteration"] % 10 == 0:
            numbers = f"{row['mean_reward']:7.3f}  {row['violations']:10.3f}  {row['kl']:9.2f}  {row['dead_groups']:11.2f}"
            print(f"{row['iteration']:9d}  {numbers}  {row['solve_rate']:15.3f}", flush=True)

    started = time.monotonic()
    history = learn(seed=seed, watch=watch)
    print("\nmean reward by iteration\n" + "\n".join(chart([r["mean_reward"] for r in history.rows])))
    if png:
        shown = {"mean reward": "mean_reward", "held-out greedy": "solve_rate", "ill-formed": "violations"}
        series = {name: [r[key] for r in history.rows] for name, key in shown.items()}
        print(f"picture: {save_png(png, series, 'GRPO on a table of logits')}")
    climbed = history.after >= c.CLIMB_FLOOR and history.after > history.before
    verdict = "climbed" if climbed else f"did not reach {c.CLIMB_FLOOR:.0%}"
    took = time.monotonic() - started
    print(f"{verdict}: greedy solve rate on {len(held_out)} held-out prompts {history.before:.1%} -> {history.after:.1%} in {took:.1f} s")
    return EXIT_OK if climbed else EXIT_FAILED


def hack(seed: int) -> int:
    """Both failures beside their cures; done when the failures fail and the cures do not."""
    from rlvr_cli.lab.hack import hacked_verifier, length_game

    print("1. a verifier that reads only the last number; the policy has a token that writes the target")
    arms = {naive: hacked_verifier(naive=naive, seed=seed) for naive in (True, False)}
    for naive, name in ((True, "naive verifier"), (False, "whole text judged")):
        print(f"   {name:<18} reward {arms[naive].rows[-1]['mean_reward']:.3f}   truly solved, held out {arms[naive].after:.1%}")
    print("2. a reward that pays for form and fines length, right or wrong")
    games = {naive: length_game(naive=naive, seed=seed) for naive in (True, False)}
    for naive, name in ((True, "naive reward"), (False, "gated by right")):
        game = games[naive]
        ends = f"reward {game.reward[0]:.2f} -> {game.reward[-1]:.2f}   thoughts {game.thoughts[0]:.1f} -> {game.thoughts[-1]:.1f}"
        print(f"   {name:<18} {ends}   accuracy {game.accuracy[0]:.1%} -> {game.accuracy[-1]:.1%}")
    shown = arms[True].after < 0.2 < 0.8 < arms[False].after
    shown = shown and games[True].accuracy[-1] < 0.4 < 0.8 < games[False].accuracy[-1]
    print("both failures shown and cured" if shown else "the failures did not show on this seed")
    return EXIT_OK if shown else EXIT_FAILED


def groups(seed: int) -> int:
    """The table of group sizes."""
    from rlvr_cli.lab.groups import DRAWS, table

    print(f"baseline variance and dead groups, measured on {DRAWS:,} groups (formula in brackets)")
    print(f"{'solve rate':>10}  {'G':>3}  {'variance of the baseline':>25}  {'dead groups':>17}")
    for m in table(seed):
        variance = f"{m.variance:.4f} ({m.expected_variance:.4f})"
        print(f"{m.solve_rate:10.2f}  {m.size:3d}  {variance:>25}  {f'{m.dead:.3f} ({m.expected_dead:.3f})':>17}")
    return EXIT_OK
