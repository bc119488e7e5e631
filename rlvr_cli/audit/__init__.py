"""The judges judged: how often is a reward wrong on labelled rows, what fools it, and what would guessing earn?

``confusion`` counts its errors against people's labels, ``label`` makes those labels, ``attacks`` and ``mechanics`` try
to break it, ``blind`` plays without reading the question, ``fit`` learns an extraction rule. Each works on a user's own
reward as on a built-in one, through the same binding that training uses.
"""
