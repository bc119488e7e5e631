"""Run code that a model wrote, in the best confinement that this machine allows, proved by attacks at start.

Tiers, best first; :func:`probe` starts one, attacks it from inside and takes it only when every attack fails:

    namespaces   own user, pid, mount, network, ipc, uts and cgroup namespaces, a read-only root of system libraries, a
                 size-limited tmpfs to work in, Landlock, seccomp, rlimits, no capabilities
    landlock     files, TCP, signals by Landlock; no sockets, seccomp, rlimits, a watch over the tree; a spare uid as root
    none         refused with a RewardError, unless unsafe=True: then only rlimits and the watch

Standard library and ctypes only, and any Python from 3.10. Example::

    >>> from rlvr_cli.verifiers import sandbox
    >>> outcome = sandbox.run("rlvr_cli.verifiers.code.inside:script", {"code": "print(6 * 7)", "stdio": True})
    >>> outcome.stdout
    b'42\\n'
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rlvr_cli.errors import RewardError
from rlvr_cli.verifiers.sandbox import cage
from rlvr_cli.verifiers.sandbox.client import Jail, Outcome, Pool, SandboxFailure, finish
from rlvr_cli.verifiers.sandbox.limits import Limits
from rlvr_cli.verifiers.sandbox.tiers import Tier, prove

__all__ = ["Jail", "Limits", "Outcome", "SandboxFailure", "Tier", "borrow", "close", "configure", "describe", "finish", "probe", "run"]

ATTEMPTS = 3
_defaults = {"unsafe": False}
_lock = threading.Lock()
_pools: dict[str, Pool] = {}
_proved: list[Tier] = []


def probe() -> Tier:
    """The tier that stood up to the attacks. Takes a second on the first call of a process, then it is remembered."""
    with _lock:
        if not _proved:
            _proved.append(prove(_pool))
        return _proved[0]


def describe() -> str:
    """One line for ``rlvr check`` and ``rlvr doctor``."""
    tier = probe()
    if tier.name == "none":
        return "code sandbox: none works here (" + "; ".join(tier.problems) + ")"
    return f"code sandbox: {tier.name} ({', '.join(tier.layers)})" + "".join(f"; {p}" for p in tier.problems)


def configure(*, unsafe: bool) -> None:
    """Apply ``reward.pool.unsafe`` of a run to this process."""
    _defaults["unsafe"] = unsafe


@contextmanager
def borrow(role: str, *, unsafe: bool = False) -> Iterator[Jail]:
    """A server for one job at a time. ``role`` keeps apart what must not share a server (solutions and tests)."""
    name = probe().name
    if name == "none":
        if not (unsafe or _defaults["unsafe"]):
            what = f"no sandbox works on this machine, so model-written code is not run ({'; '.join(probe().problems)})"
            raise RewardError(what, fix="reward.pool.unsafe=true")
        name = cage.UNSAFE
    with _lock:
        pool = _pool(name)
    with pool.borrow(role) as jail:
        yield jail


def run(
    entry: str, spec: dict, *, stdin: bytes = b"", limits: Limits | None = None, role: str = "solution", unsafe: bool = False
) -> Outcome:
    """One job, retried when the machinery (not the program) fails; SandboxFailure after the last attempt."""
    for attempt in range(ATTEMPTS):
        try:
            with borrow(role, unsafe=unsafe) as jail:
                return finish(jail.start(entry, spec=spec, stdin=stdin, limits=limits or Limits()))[0]
        except SandboxFailure:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _pool(tier: str) -> Pool:
    """The pool of a tier; a dead keeper is replaced."""
    pool = _pools.get(tier)
    if pool is None or pool.keeper.poll() is not None:
        if pool is not None:
            pool.close()
        pool = _pools[tier] = Pool(tier)
    return pool


def close() -> None:
    """End every server now. The next run starts new ones."""
    with _lock:
        while _pools:
            _pools.popitem()[1].close()


def _forget() -> None:
    """A forked child has copies of our sockets: it must neither use them nor keep our servers alive."""
    global _lock
    _lock = threading.Lock()
    for pool in _pools.values():
        pool.forget()
    _pools.clear()


atexit.register(close)
os.register_at_fork(after_in_child=_forget)
