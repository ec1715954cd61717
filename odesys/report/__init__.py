"""One page per paper: everything known about it, gathered once and written as HTML or as a LaTeX bundle.

Nouns: `Content` (what a page says), `ClaimEntry` (a claim with what was found about it), templates (what a page looks
like; the folder ``templates``). May import: everything up to `odesys.papers`.
"""
