"""The objective in NumPy, small enough to read in an evening and quick enough to watch.

``constants`` names every number of the mathematics, ``game`` is the task and its verifier, ``policy`` a table of logits,
``objective`` the group baseline, the clip, the KL estimate and the length term, ``learn`` the loop, ``losses`` the loss
types that TRL offers (tests hold both to the same numbers). ``docs/objective.md`` derives it all.
"""
