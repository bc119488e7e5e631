"""Is a model better than before, and how sure is that: completions, verdicts, intervals, pass@k, paired comparison."""
