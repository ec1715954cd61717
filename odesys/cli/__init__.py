"""The commands, thin: options are read, the paper is asked, what comes back is printed or written.

Nouns: commands (one function per command), options (what they share).
May import: every room; numerics and papers are loaded when a command runs.
"""
