"""The engine's one error: a question it does not answer.

>>> error = Refused("cpu", "stopped after 1 s of CPU time")
>>> error.kind, str(error)
('cpu', 'stopped after 1 s of CPU time')
"""


class Refused(Exception):
    """``kind``: schema, sql, refused (not a read-only query), cpu, memory or size."""

    def __init__(self, kind: str, detail: str):
        self.kind = kind
        super().__init__(detail)
