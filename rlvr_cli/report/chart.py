"""Line charts as inline SVG: a few hundred bytes a series, sharp at any width, coloured by the page's own variables.

Text is sized for a 480-unit wide picture, which a phone shows at two thirds. Each chart carries its numbers a second
time as ``<title>`` for a pointer and for screen readers. Only numbers and escaped text go in::

    chart([Line("reward", [(0, 0.3), (1, 0.5)], colour=0)], unit="share")
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH, WIDE, HEIGHT = 480, 1060, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 34
POINTS = 240  # beyond this a series is averaged in bins

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """One series. ``band`` holds (step, low, high); ``colour`` is the number of a page variable; ``dots`` marks every value."""

    label: str
    points: Sequence[Point]
    colour: int = 0
    band: Sequence[tuple[float, float, float]] = field(default_factory=list)
    dots: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class Frame:
    """The ranges of a chart and the way from values to places."""

    x0: float
    x1: float
    y0: float
    y1: float
    width: float = WIDTH

    def x(self, value: float) -> float:
        """Place of a step."""
        return LEFT + (value - self.x0) / ((self.x1 - self.x0) or 1) * (self.width - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Place of a value, from the top."""
        return HEIGHT - BOTTOM - (value - self.y0) / ((self.y1 - self.y0) or 1) * (HEIGHT - TOP - BOTTOM)


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Round numbers that span the range.

    >>> ticks(0.13, 0.92)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high > low:
        low, high = (low - abs(low) * 0.5 - 0.5, high + abs(high) * 0.5 + 0.5) if low else (0.0, 1.0)
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999), 10 * power)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def thinned(points: Sequence[Point]) -> list[Point]:
    """At most ``POINTS`` points; bins of neighbours become their mean."""
    size = max(1, -(-len(points) // POINTS))
    bins = [points[i : i + size] for i in range(0, len(points), size)]
    return [(b[len(b) // 2][0], sum(v for _, v in b) / len(b)) for b in bins]


def smoothed(points: Sequence[Point]) -> list[Point]:
    """A centred moving average over a twentieth of the series, so that noise does not hide the shape."""
    reach = max(1, len(points) // 40)
    out = []
    for i, (x, _) in enumerate(points):
        near = points[max(0, i - reach) : i + reach + 1]
        out.append((x, sum(v for _, v in near) / len(near)))
    return out


def path(frame: Frame, points: Sequence[Point]) -> str:
    """The ``d`` of a polyline."""
    return "M" + " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in points)


def frame_of(lines: Sequence[Line], low: float | None, high: float | None, width: float) -> tuple[Frame, list[float]]:
    """The ranges that hold every line, and the ticks of the value axis."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points] + [v for line in lines for _, a, b in line.band for v in (a, b)]
    marks = ticks(min(ys) if low is None else low, max(ys) if high is None else high)
    return Frame(min(xs), max(xs), marks[0], marks[-1], width), marks


def chart(lines: Sequence[Line], *, unit: str = "", low: float | None = None, high: float | None = None, wide: bool = False) -> str:
    """An SVG of the lines, with axes and ticks. ``unit`` names what the value axis counts; empty lines give an empty text."""
    lines = [line for line in lines if line.points]
    if not lines:
        return ""
    frame, marks = frame_of(lines, low, high, WIDE if wide else WIDTH)
    said = "; ".join(f"{line.label}: {number(line.points[0][1])} to {number(line.points[-1][1])}" for line in lines)
    body = [f"<title>{escape(f'{unit}. {said}' if unit else said)}</title>", *axes(frame, marks)]
    for line in lines:
        body += drawn(frame, line)
    return f'<svg viewBox="0 0 {frame.width} {HEIGHT}" role="img">{"".join(body)}</svg>'


def axes(frame: Frame, marks: Sequence[float]) -> list[str]:
    """Grid lines and their numbers, the first and last step."""
    parts = []
    for mark in marks:
        y = frame.y(mark)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{frame.width - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 7}" y="{y + 4.5:.1f}" text-anchor="end">{number(mark)}</text>')
    middle = (frame.x0 + frame.x1) / 2
    for value, anchor in ((frame.x0, "start"), (middle, "middle"), (frame.x1, "end")):
        if anchor == "middle" and frame.x1 - frame.x0 < 4:
            continue
        text = f"step {value:.0f}" if anchor == "start" else f"{value:.0f}"
        parts.append(f'<text class="tick" x="{frame.x(value):.1f}" y="{HEIGHT - 10}" text-anchor="{anchor}">{text}</text>')
    return parts


def drawn(frame: Frame, line: Line) -> list[str]:
    """One series: its band, the raw values faint when they are many, the line, its dots."""
    parts = []
    colour = f"c{line.colour % 8}"
    if line.band:
        edge = [(x, b) for x, _, b in line.band] + [(x, a) for x, a, _ in reversed(line.band)]
        parts.append(f'<path class="band {colour}" d="{path(frame, edge)}Z"/>')
    points = thinned(line.points)
    if len(points) > 40 and not line.dots:
        parts.append(f'<path class="raw {colour}" d="{path(frame, points)}"/>')
        points = smoothed(points)
    dash = " dashed" if line.dashed else ""
    parts.append(f'<path class="line {colour}{dash}" d="{path(frame, points)}"/>')
    if line.dots or len(points) == 1:
        for x, y in points:
            told = f"<title>step {x:.0f}: {number(y)}</title>"
            parts.append(f'<circle class="dot {colour}" cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="3.4">{told}</circle>')
    return parts


def number(value: float) -> str:
    """A number of a chart: three digits that matter.

    >>> [number(v) for v in (0.25, 1500.0, 0.0004, 12, -0.5, 0)]
    ['0.25', '1,500', '4e-4', '12', '-0.5', '0']
    """
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 1e-3:
        return f"{value:.3g}"
    digits, _, power = f"{value:.2e}".partition("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
