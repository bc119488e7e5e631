"""``rlvr ls``: the groups, a group's options, an option's header, or what a key means. Reads folders, not Hydra::

$ rlvr ls hardware
1gpu       One GPU: the rank and, for real models, a colocated vLLM take turns on it.
...
"""

from __future__ import annotations

import json
from pathlib import Path

from rlvr_cli.arguments import Arguments
from rlvr_cli.config.nearest import nearest
from rlvr_cli.config.options import GROUPS, Option, groups, options, search_dirs
from rlvr_cli.errors import EXIT_OK, ConfigError

EPILOGUE = """\
examples:
  rlvr ls                       every group and its options
  rlvr ls model                 one group, a line an option
  rlvr ls model/qwen1.5b        one option: what it is, what it needs, its file
  rlvr ls trainer.save_steps    what a key means, its kind, range and default
yours come first: a file ./conf/GROUP/NAME.yaml is an option, and hides a shipped one of its name"""


def run(argv: list[str]) -> int:
    """Print the list; 2 where the name is none of the things above."""
    p = Arguments(
        prog="rlvr ls",
        description="The options of every configuration group.",
        epilog=EPILOGUE,
    )
    p.add_argument("name", nargs="?", help="a group, GROUP/OPTION, or a dotted key")
    p.add_argument("--json", action="store_true", help="one JSON object")
    args = p.parse_args(argv)
    if args.name is None:
        return list_groups(args.json)
    name = args.name.strip("/").replace("=", "/")
    if name in groups():
        return list_options(name, args.json)
    group, _, option = name.partition("/")
    if option and group in groups():
        return show_option(group, option, args.json)
    return explain_key(name, args.json)


def list_groups(as_json: bool) -> int:
    """All groups, each with its sentence and its options."""
    found = {g: list(options(g)) for g in groups()}
    if as_json:
        print(json.dumps(found))
        return EXIT_OK
    width = max(map(len, found))
    for group, names in found.items():
        print(f"{group:<{width}}  {GROUPS.get(group, 'your own group')}")
        print(f"{'':<{width}}    {' '.join(names)}")
    print(f"\nfrom {', '.join(short(d) for d in search_dirs())}; more: rlvr ls GROUP, rlvr ls GROUP/OPTION, rlvr ls KEY")
    return EXIT_OK


def list_options(group: str, as_json: bool) -> int:
    """One group: a line an option."""
    found = options(group)
    if as_json:
        print(json.dumps({n: {"summary": o.summary, "file": str(o.path)} for n, o in found.items()}, ensure_ascii=False))
        return EXIT_OK
    width = max(map(len, found))
    for name, option in found.items():
        print(f"{name:<{width}}  {option.summary}{mark(option)}")
    return EXIT_OK


def mark(option: Option) -> str:
    """Says which options are the user's own."""
    own = (Path.cwd() / "conf").resolve()
    shipped = search_dirs()[-1].resolve()
    return "  (yours)" if own != shipped and option.path.resolve().is_relative_to(own) else ""


def show_option(group: str, name: str, as_json: bool) -> int:
    """One option: its whole header and its file."""
    found = options(group)
    if name not in found:
        near = nearest(name, found)
        raise ConfigError(
            f"{group}={name} is not an option", where="rlvr ls", fix=f"rlvr ls {group}/{near}" if near else f"rlvr ls {group}"
        )
    option = found[name]
    if as_json:
        print(json.dumps({"group": group, "name": name, "header": option.header, "file": str(option.path)}, ensure_ascii=False))
        return EXIT_OK
    print("\n".join([*option.header, "", option.path.read_text(encoding="utf-8").rstrip(), "", f"file {short(option.path)}"]))
    return EXIT_OK


def explain_key(key: str, as_json: bool) -> int:
    """One key of the schema: kind, range, default, meaning."""
    from rlvr_cli.config.fields import field_at, kind
    from rlvr_cli.config.schema import EvalConfig, SampleConfig

    field = field_at(key, EvalConfig) or field_at(key, SampleConfig)
    if field is None:
        raise unknown(key)
    default = field.get_default(call_default_factory=True)
    told = {
        "key": key,
        "kind": kind(field),
        "default": default if isinstance(default, (int, float, str, bool, list, dict, type(None))) else None,
    }
    told["meaning"] = " ".join((field.description or "").split())
    if as_json:
        print(json.dumps(told, ensure_ascii=False))
    else:
        print(f"{key}: {told['kind']}; default {'null' if told['default'] is None else told['default']}\n{told['meaning']}")
    return EXIT_OK


def unknown(name: str) -> ConfigError:
    """A name that is nothing here: the groups there are, and what was most likely meant."""
    near, listed = meant(name), "" if "." in name else f" ({', '.join(groups())})"
    what = f"{name!r} is neither a group{listed}, nor an option, nor a key"
    return ConfigError(what, where="rlvr ls", fix=f"rlvr ls {near}" if near else "rlvr ls")


def meant(name: str) -> str | None:
    """The nearest group, GROUP/OPTION or key."""
    from rlvr_cli.config.fields import all_keys
    from rlvr_cli.config.nearest import nearest_key
    from rlvr_cli.config.schema import EvalConfig, SampleConfig

    head, _, option = name.partition("/")
    group = nearest(head, groups(), cutoff=0.6)
    if option and group:
        return f"{group}/{option}" if option in options(group) else group
    key = nearest_key(name, [*all_keys(EvalConfig), *(k for k in all_keys(SampleConfig) if k.startswith("sample."))])
    return key if "." in name and key else group or owner(name) or key


def owner(name: str) -> str | None:
    """``GROUP/NAME`` of the option of that name, in the group where a person most likely meant it."""
    order = [g for g in ("recipe", "model", "dataset", "reward", "algorithm") if g in groups()]
    return next((f"{group}/{name}" for group in [*order, *groups()] if name in options(group)), None)


def short(path: Path) -> str:
    """A path from here, where it lies below."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
