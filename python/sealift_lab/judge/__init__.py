"""The only place that decides: estimates, verdicts, winners, crossings, agreement, error rates."""
