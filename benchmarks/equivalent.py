"""Mutants that no test can or need notice, by their names in `benchmarks.mutants`, each with the reason."""

REASONS: dict[str, str] = {}
