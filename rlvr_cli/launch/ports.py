"""Free ports, chosen by the kernel and never fixed, so that two runs on one machine do not meet."""

from __future__ import annotations

import socket


def free_ports(count: int) -> list[int]:
    """``count`` different TCP ports that were free a moment ago on every interface.

    All are held open until the last is chosen, so one call never returns the same port twice.
    """
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(count)]
    try:
        for sock in sockets:
            sock.bind(("", 0))
        return [sock.getsockname()[1] for sock in sockets]
    finally:
        for sock in sockets:
            sock.close()
