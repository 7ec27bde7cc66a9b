"""The nouns: experiments, cells, samples, results, published figures, claims, workloads, units."""
