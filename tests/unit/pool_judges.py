"""Judges that misbehave in every way a pool must survive; imported by the workers by the name ``pool_judges``."""

import os
import signal
import subprocess
import sys
import threading
import time

from rlvr_cli.verifiers.verdict import Verdict


def same(completion, row, *, bonus=0.0):
    return Verdict(float(completion == row["answer"]) + bonus, f"gold {row['answer']}", completion)


def moods(completion, row):
    """Does what the completion says."""
    word, _, argument = completion.partition(" ")
    return {
        "ok": lambda _: Verdict(1.0, "ok", completion),
        "sleep": _sleep,
        "spin": _spin,
        "die": lambda _: os.kill(os.getpid(), signal.SIGKILL),
        "exit": lambda _: os._exit(3),
        "sysexit": lambda _: sys.exit(0),
        "raise": _raise,
        "nan": lambda _: Verdict(float("nan"), "no number"),
        "none": lambda _: Verdict(None, "gold unreadable"),
        "odd": lambda _: Verdict("many", "not a number"),
        "chatty": _chatty,
        "mortal": _mortal,
        "hog": lambda _: Verdict(float(len(bytearray(64 * 2**30))), "unlimited memory"),
        "child": _child,
        "pid": lambda _: Verdict(float(os.getpid()), "pid"),
        "environment": lambda _: Verdict(1.0, "environment", repr(sorted(os.environ.items()))),
        "deaf": _deaf,
        "thread": _thread,
        "type": lambda _: Verdict(1.0, type(row["value"]).__name__, repr(row["value"])),
    }[word](argument)


def _sleep(seconds):
    time.sleep(float(seconds))
    return Verdict(1.0, "slept")


def _spin(_):
    while True:
        sum(range(10**6))


def _deaf(_):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(600)


def _raise(text):
    raise RuntimeError(text)


def _chatty(_):
    print("noise " * 20_000)
    sys.stdout.flush()
    os.write(1, b"\0\0\0\x05nonsense" * 1000)
    os.write(2, b"\0\0\0\x05nonsense" * 1000)
    for fd in range(3, 20):
        try:
            os.write(fd, b"\0\0\0\x02{}")
        except OSError:
            continue
    return Verdict(1.0, "chatty")


def _mortal(marker):
    """Die at the first call, judge at the second."""
    if not os.path.exists(marker):
        with open(marker, "w"):
            os._exit(9)
    return Verdict(1.0, "second life")


def _child(marker):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", marker])
    time.sleep(600)


def _thread(_):
    threading.Thread(target=time.sleep, args=(600,)).start()
    return Verdict(1.0, "left a thread")


def cacheable(completion, row):
    return completion != "pid now"
