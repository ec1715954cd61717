"""Proofs for a proof assistant: what claims proved, written as Coq files and checked by its kernel.

`terms` writes expressions, `strategy` chooses what a proof has to open, `lemmas` and `relations` write statements and
proofs, `theory` whole files, and `checking` runs Coq on them.

Nouns: `Theory` (a file with its statements), `Section`, `Checked` (what Coq said to a file).
May import: everything up to `odesys.certify`.
"""
