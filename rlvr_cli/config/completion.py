"""Tab completion: commands, groups, options and keys. Reads folders; the schema is loaded only for keys with a dot.

$ source <(rlvr config --completion bash)
$ rlvr train model=qw<TAB>
"""

from __future__ import annotations

from rlvr_cli.config.options import groups, options

WITH_OVERRIDES = ("train", "eval", "check", "config", "sample")
WITH_RUNS = ("show", "doctor", "report", "chat", "export")
FLAGS = {"train": ["--dry-run", "--resume", "--clean", "--cfg", "--info", "-m"], "check": ["--json", "--strict", "--all"]}

SCRIPTS = {
    "bash": """\
_rlvr() {
  local line="${COMP_LINE:0:COMP_POINT}" cur="${COMP_WORDS[COMP_CWORD]}" IFS=$'\\n'
  local whole="${line##* }" all
  all=$(rlvr config --complete "$line" 2>/dev/null) || return
  COMPREPLY=()
  for word in $all; do
    case "$whole" in
      *=*) COMPREPLY+=("${word#"${whole%=*}="}") ;;
      *) COMPREPLY+=("$word") ;;
    esac
  done
  [[ "$cur" == "=" ]] && COMP_CWORD=$((COMP_CWORD + 1))
}
complete -o nospace -o default -F _rlvr rlvr""",
    "zsh": """\
_rlvr() {
  local -a found
  found=("${(@f)$(rlvr config --complete "${BUFFER[1,CURSOR]}" 2>/dev/null)}")
  compadd -Q -S '' -- $found
}
compdef _rlvr rlvr""",
    "fish": """complete -c rlvr -f -a '(rlvr config --complete (commandline -cp) 2>/dev/null)'""",
}


def script(shell: str) -> str:
    """The script that a shell sources."""
    return SCRIPTS[shell]


def candidates(line: str) -> list[str]:
    """What may stand at the end of a command line, whole words.

    >>> candidates("rlvr tra")
    ['train']
    >>> [c for c in candidates("rlvr train peft=") if c != "peft=none"]
    ['peft=lora', 'peft=qlora']
    """
    from rlvr_cli.main import COMMANDS

    words = line.split()[1:]
    last = "" if line.endswith(" ") or not words else words.pop()
    if not words:
        return [name for name in COMMANDS if name.startswith(last)]
    command = words[0]
    if command in ("ls", "cp"):
        return group_paths(last)
    if command in WITH_RUNS:
        return run_names(last)
    if command not in WITH_OVERRIDES:
        return []
    return [c for c in overrides(last) + FLAGS.get(command, []) if c.startswith(last)]


def overrides(last: str) -> list[str]:
    """``group=option``, a group followed by ``=``, or a dotted key followed by ``=``."""
    group, mark, _ = last.partition("=")
    if mark:
        return [f"{group}={name}" for name in options(group)] or values(group)
    if "." in last:
        from rlvr_cli.config.fields import all_keys
        from rlvr_cli.config.schema import EvalConfig

        return [f"{key}=" for key in all_keys(EvalConfig)]
    return [f"{g}=" for g in groups()] + [f"{g}." for g in groups() if last and g.startswith(last)]


def values(key: str) -> list[str]:
    """The words that a key takes, where it takes one of a few."""
    from rlvr_cli.config.fields import choices, field_at
    from rlvr_cli.config.schema import EvalConfig

    field = field_at(key, EvalConfig)
    return [f"{key}={value}" for value in choices(field)] if field is not None else []


def group_paths(last: str) -> list[str]:
    """``model/qwen1.5b`` for ``rlvr ls`` and ``rlvr cp``."""
    group, mark, _ = last.partition("/")
    found = [f"{group}/{name}" for name in options(group)] if mark else groups()
    return [c for c in found if c.startswith(last)]


def run_names(last: str) -> list[str]:
    """Folders of ``outputs/`` that hold a run."""
    from pathlib import Path

    found = sorted(str(p.parent) for p in Path("outputs").glob("*/config.yaml"))
    return [c for c in found if c.startswith(last) or c.removeprefix("outputs/").startswith(last)]
