"""``rlvr export``: a run's model as a plain Hugging Face folder, adapters merged, ready for any other tool."""

from __future__ import annotations

import json
from pathlib import Path

from rlvr_cli.arguments import Arguments

EPILOGUE = """\
examples:
  rlvr export outputs/RUN                       to outputs/RUN/export
  rlvr export outputs/RUN my-model              to ./my-model
  rlvr export outputs/RUN/checkpoints/step_50 my-model --dtype bfloat16

The model is the run's final/ (best by held-out accuracy), else last/, else its latest checkpoint. LoRA adapters are merged."""


def parser() -> Arguments:
    """The command line of ``rlvr export``."""
    made = Arguments(
        prog="rlvr export",
        description="Write a run's model as a plain Hugging Face folder.",
        epilog=EPILOGUE,
    )
    made.add_argument("run", metavar="RUN", help="a run folder, its name, or a checkpoint folder")
    made.add_argument("dest", nargs="?", metavar="DEST", help="folder to write; must not exist (default: RUN/export)")
    made.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), help="type of the weights (default: as they are)")
    return made


def run(argv: list[str]) -> int:
    """Load, merge, save; returns the exit code."""
    args = parser().parse_args(argv)
    from rlvr_cli.errors import RunDirError
    from rlvr_cli.evaluation.target import find_target
    from rlvr_cli.outputs import need_writable

    target = find_target(args.run, Path("outputs"))
    dest = Path(args.dest) if args.dest else (target.run or Path(target.path)) / "export"
    if dest.exists() and (not dest.is_dir() or any(dest.iterdir())):
        raise RunDirError(f"{dest} exists", where="DEST", fix=f"rlvr export {args.run} {dest}-2")
    need_writable(dest.parent, where="DEST", what=str(dest), fix=f"rlvr export {args.run} FOLDER")
    export(target, dest, args.dtype)
    print(f"written: {dest}   next: rlvr eval checkpoint={dest}, or any tool that loads a Hugging Face folder")
    return 0


def export(target: object, dest: Path, dtype: str | None) -> None:
    """Write weights, tokenizer with its chat template, and a note of where they came from; whole or not at all."""
    import shutil

    from rlvr_cli.config.schema import Model
    from rlvr_cli.evaluation import policy

    policy.need_torch()
    config = Model.model_validate(target.run_config().get("model", {}))
    config = config.model_copy(update={"dtype": dtype or stored_dtype(Path(target.path))})
    model, tokenizer = policy.load_policy(target.path, config, device="cpu")
    part = dest.with_name(f".{dest.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    model.save_pretrained(part)
    tokenizer.save_pretrained(part)
    (part / "export.json").write_text(json.dumps({"from": target.said, "dtype": config.dtype}, indent=1) + "\n")
    if dest.exists():
        dest.rmdir()  # empty: checked above
    part.rename(dest)


def stored_dtype(folder: Path) -> str:
    """The type that the weights are stored in; an adapter's base is loaded as float32 and merged there."""
    try:
        config = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError):
        return "float32"
    name = str(config.get("dtype") or config.get("torch_dtype") or "float32")
    return name if name in ("float32", "bfloat16", "float16") else "float32"
