"""The only place that decides: estimates, verdicts, winners, crossings, error rates."""
