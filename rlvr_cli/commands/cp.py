"""``rlvr cp``: copy a shipped configuration file here, to change it. What lies in ``./conf`` comes before what is shipped::

$ rlvr cp model/qwen1.5b mine
conf/model/mine.yaml: choose it with model=mine
"""

from __future__ import annotations

from pathlib import Path

from rlvr_cli.arguments import Arguments
from rlvr_cli.config.nearest import nearest
from rlvr_cli.config.options import groups, options, search_dirs
from rlvr_cli.errors import EXIT_OK, ConfigError
from rlvr_cli.outputs import claim, writing

EPILOGUE = """\
examples:
  rlvr cp reward/math                    ./conf/reward/math.yaml, which now comes before the shipped one
  rlvr cp model/qwen1.5b mine            ./conf/model/mine.yaml, chosen with model=mine
  rlvr cp train                          ./conf/train.yaml: your own defaults for every run
  rlvr cp recipe/smollm2_arithmetic ~/notes/recipe.yaml"""


def run(argv: list[str]) -> int:
    """Copy one file; 2 where it does not exist, or the copy would overwrite."""
    p = Arguments(
        prog="rlvr cp",
        description="Copy a shipped configuration file here, to change it.",
        epilog=EPILOGUE,
    )
    p.add_argument("config", metavar="CONFIG", help="GROUP/OPTION, or train, or eval")
    p.add_argument("dest", metavar="DEST", nargs="?", help="a name, a file or a folder; default ./conf/CONFIG.yaml")
    p.add_argument("--force", action="store_true", help="overwrite")
    args = p.parse_args(argv)
    source = find(args.config.strip("/").replace("=", "/").removesuffix(".yaml"))
    dest = destination(args.config, args.dest, source)
    if dest.exists() and not args.force:
        same = dest.resolve() == source.resolve()
        what = f"{dest} is the file itself" if same else f"{dest} exists"
        raise ConfigError(
            what, where="rlvr cp", fix=f"rlvr cp {args.config} mine" if same else f"rlvr cp {args.config} {args.dest or ''} --force"
        )
    claim(dest, overwrite=True, where="DEST")
    if dest.resolve() != source.resolve():
        with writing(dest, where="DEST") as file:
            file.write(source.read_text(encoding="utf-8"))
    print(f"{dest}{how_to_choose(dest)}")
    return EXIT_OK


def find(name: str) -> Path:
    """The file of ``GROUP/OPTION`` or of a root."""
    group, _, option = name.partition("/")
    if not option:
        roots = {p.stem: p for d in reversed(search_dirs()) for p in d.glob("*.yaml")}
        if name in roots:
            return roots[name]
        near = nearest(name, [*roots, *groups()])
        raise ConfigError(
            f"{name!r} is not a configuration", where="rlvr cp", fix=f"rlvr ls {near}" if near in groups() else f"rlvr cp {near or 'train'}"
        )
    found = options(group)
    if option not in found:
        near = nearest(option, found) if found else nearest(group, groups())
        fix = f"rlvr cp {group}/{near}" if found and near else f"rlvr ls {near or ''}".rstrip()
        raise ConfigError(f"there is no option {name}", where="rlvr cp", fix=fix)
    return found[option].path


def destination(config: str, dest: str | None, source: Path) -> Path:
    """Where the copy goes: ``./conf`` in the same group, unless DEST is a path."""
    name = config.strip("/").replace("=", "/").removesuffix(".yaml")
    own = Path("conf") / f"{name}.yaml"
    if dest is None:
        return own
    if dest.endswith((".yaml", ".yml")):
        return Path(dest).expanduser()
    path = Path(dest).expanduser()
    if dest.endswith("/") or path.is_dir():
        return path / source.name
    return own.with_name(f"{dest}.yaml") if "/" not in dest else path.with_suffix(".yaml")


def how_to_choose(dest: Path) -> str:
    """What to type to use the copy, where it lies in ``./conf``."""
    own = (Path.cwd() / "conf").resolve()
    if not dest.resolve().is_relative_to(own):
        return ""
    inside = dest.resolve().relative_to(own).with_suffix("")
    if len(inside.parts) == 1:
        return f": every rlvr {inside} here starts from it"
    return f": choose it with {inside.parts[0]}={'/'.join(inside.parts[1:])}"
