"""Choose the tier by attacking it: what is claimed here was tried from inside, in this process's own sandbox.

Each attack of :mod:`attacks` names what it got away with; a tier with one success is not taken. The verdict a person sees::

    Tier(name="namespaces", layers=[...], problems=[])
    Tier(name="landlock", layers=[...], problems=["namespaces: clone: Operation not permitted"])
"""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rlvr_cli.verifiers.sandbox import cage
from rlvr_cli.verifiers.sandbox.client import Outcome, Pool, SandboxFailure, finish
from rlvr_cli.verifiers.sandbox.limits import Limits

_CANARY = "rlvr-canary-7f3a"
_SMALL = Limits(cpu_s=2, wall_s=6, memory_mb=256, disk_mb=4, output_mb=0.25)


@dataclass(frozen=True)
class Tier:
    """``name`` is namespaces, landlock or none; ``problems`` say why a better one was not taken."""

    name: str
    layers: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def prove(pool_of: Callable[[str], Pool]) -> Tier:
    """The best tier that starts and withstands every attack; ``RLVR_SANDBOX_TIER`` names the only one to try."""
    problems: list[str] = []
    only = os.environ.get("RLVR_SANDBOX_TIER")
    for name in (cage.NAMESPACES, cage.LANDLOCK):
        if only and name != only:
            problems.append(f"{name}: not tried, RLVR_SANDBOX_TIER is {only}")
            continue
        try:
            layers, broken = _attack(pool_of(name))
        except (SandboxFailure, OSError) as error:
            problems.append(f"{name}: {error}")
            continue
        if not broken:
            return Tier(name, layers, problems)
        problems.append(f"{name}: attacks succeeded: {', '.join(broken)}")
    return Tier("none", [], problems)


def _attack(pool: Pool) -> tuple[list[str], list[str]]:
    """Run all attacks in one borrowed server; the layers that it claims, and the attacks that worked."""
    with _targets() as targets, pool.borrow("solution") as jail:

        def attack(name: str, spec: dict) -> Outcome:
            return finish(jail.start(f"rlvr_cli.verifiers.sandbox.attacks:{name}", spec=spec, stdin=b"", limits=_SMALL))[0]

        broken = list(json.loads(attack("many", targets).report or b'["the attacks did not run"]'))
        broken += ["unlimited processes"] if b"unlimited" in attack("fork_bomb", targets).stdout else []
        broken += ["unlimited memory"] if b"unlimited" in attack("memory", targets).stdout else []
        broken += ["unlimited disk"] if b"unlimited" in attack("disk", targets).stdout else []
        attack("daemon", targets)
        broken += ["a daemon outlives its job"] if _alive(targets["marker"]) else []
        return jail.layers, broken


@contextmanager
def _targets() -> Iterator[dict]:
    """Things to be stolen, reached or broken: a file, an environment variable, three listeners, this process."""
    with tempfile.TemporaryDirectory(prefix="rlvr-probe-") as folder, socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        secret = os.path.join(folder, "secret")
        with open(secret, "w") as file:
            file.write(_CANARY)
        os.chmod(folder, 0o755)
        name = f"rlvr-probe-{os.getpid()}-{os.path.basename(folder)}"
        with socket.socket(socket.AF_UNIX) as abstract:
            tcp.bind(("127.0.0.1", 0))
            tcp.listen()
            udp.bind(("127.0.0.1", 0))
            abstract.bind("\0" + name)
            abstract.listen()
            yield {
                "secret": secret, "folder": folder, "canary": _CANARY, "tcp": tcp.getsockname()[1], "abstract": name, "pid": os.getpid(),
                "marker": f"{name}-daemon",
            }  # fmt: skip


def _alive(marker: str) -> bool:
    """True when a process on this machine carries the marker on its command line."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if marker.encode() in file.read():
                    return True
        except OSError:
            continue
    return False
