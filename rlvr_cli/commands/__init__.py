"""One module a verb; each has ``run(argv) -> int``. See the table in :mod:`rlvr_cli.main`."""
