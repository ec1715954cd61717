"""Mutants that no test can or need notice, by their names in `benchmarks.mutants`, each with the reason."""

REASONS: dict[str, str] = {
    "odesys/jit/shifted_sums.py: divisors = [b for b, e in others.items() if b in self.sums and e < 0 and "
    "e.denominator == 1]: 0 -> (1)": "the exponent is a whole number and never 0: a product has no such factor",
}
