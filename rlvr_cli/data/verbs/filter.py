"""``rlvr data filter``: rows kept and dropped, every drop counted by its reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlvr_cli.data.verbs import file_words, finish
from rlvr_cli.errors import EXIT_OK

Row = dict[str, Any]

FILTER_EXAMPLES = """\
  rlvr data filter data=train.jsonl pass_min=0.1 pass_max=0.9 out=kept.jsonl
  rlvr data filter data=train.jsonl language=[en,zh] min_chars=20 near=0.8 unsafe=true personal=drop out=kept.jsonl dropped=why.jsonl
  rlvr data filter data=broken.jsonl on_broken=drop out=clean.jsonl"""


def run(argv: Sequence[str]) -> int:
    """Keep and drop rows; each reason with its count."""
    from rlvr_cli.data.files import question_column, rows_of_file
    from rlvr_cli.data.filter import DEFAULTS, HELP, filter_rows, reason_kind

    settings = file_words("filter", argv, "Keep rows, drop rows, count every drop by its reason.", HELP, DEFAULTS, FILTER_EXAMPLES)
    rows = rows_of_file(settings["data"], on_broken=settings["on_broken"], encoding=settings["encoding"])
    column = question_column(rows, settings["column"])
    kept, dropped = filter_rows(rows, settings, column=column)
    finish(settings, kept, dropped, len(rows), reason_kind)
    return EXIT_OK
