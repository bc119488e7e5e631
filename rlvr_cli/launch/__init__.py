"""One command owns everything: plan who gets what, start the server and the ranks, watch them, leave nothing behind.

``plan`` is arithmetic on facts, ``keeper`` is the process that no child outlives, ``server`` and ``ranks`` build command
lines, ``supervise`` waits with deadlines, ``view`` shows what happens.
"""
