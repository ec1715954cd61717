"""One package per paper, all of one shape; read the files in this order.

==================  ==================================================================================================
__init__            the reference, the table of symbols, what is covered and what is not, and `PAPER`
setting             model, data, parameters and sizes, as the paper's section on the setting states them
dynamics            the derived systems and their reductions, with their sizes said aloud
protocol            training runs of ``odesys simulate``: which weights, on which samples, until when
explorer            what a reader of the page can try: systems, sliders, protocols and curves of the live explorer
laboratory          the same systems behind one object, which can be broken on purpose, for the claims
claims/book         the claim book, and what all parts need to state a claim
claims/part_*       the claims, a file per part of the paper
claims/common_*     what several parts share: runs, formulas, checks; no claim is stated there
claims/unaffected   why a claim may keep its verdict on a system that is broken
compare             theory against networks of finite width
figures/            ``paper_figures`` has the figures of the paper; the other files there hold panels or groups of them
special/            what only this paper needs; the first line of each file says what it is and why it is here
==================  ==================================================================================================

A paper imports the public names of `odesys` and its own package, and nothing else of the project.
"""
