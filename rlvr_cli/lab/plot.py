"""The climb as a picture: in the terminal with half blocks, and as a PNG where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rlvr_cli.errors import MissingDependency

HEIGHT, WIDTH = 8, 60


def chart(values: Sequence[float], *, low: float = 0.0, high: float = 1.0, height: int = HEIGHT, width: int = WIDTH) -> list[str]:
    """``height`` lines with a scale at the left; each column is the mean of its share of the values.

    >>> for line in chart([0.0, 0.5, 1.0], height=2, width=3): print(line)
    1.00 ┤  █
    0.00 ┤ ██
    """
    columns = [float(np.mean(part)) for part in np.array_split(np.asarray(values, float), min(width, len(values)))]
    halves = [round(2 * height * (min(max(v, low), high) - low) / (high - low)) for v in columns]
    lines = []
    for row in range(height - 1, -1, -1):
        cells = "".join("█" if h >= 2 * row + 2 else "▄" if h == 2 * row + 1 else " " for h in halves)
        label = high if row == height - 1 else low if row == 0 else None
        lines.append(f"{label:4.2f} ┤{cells}" if label is not None else f"     │{cells}")
    return lines


def save_png(path: Path, series: dict[str, Sequence[float]], title: str) -> Path:
    """Lines over iterations, one a series. Raises MissingDependency without matplotlib."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingDependency("a PNG needs matplotlib", where="--png", fix="pip install 'rlvr[plots]'") from error
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), dpi=120, layout="constrained")
    for name, values in series.items():
        axes.plot(range(1, len(values) + 1), values, label=name, linewidth=1.6)
    axes.set(title=title, xlabel="iteration", ylim=(-0.02, 1.05))
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)
    return path
