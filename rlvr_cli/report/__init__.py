"""One self-contained HTML page of one or more runs: the verdict first, then the curves, the samples, the differences.

No script, no font, no picture from elsewhere; the page forbids itself to load anything. Charts are SVG drawn here.
"""
