"""A paper as a page: its setting, systems, claims, runs and figures, gathered once and written as HTML or LaTeX."""
