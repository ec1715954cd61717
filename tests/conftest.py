"""What all tests share: interrupts, and the garbage collector as the command line has it.

A process started in the background ignores interrupts, and so would those the tests start.
"""

import signal

from odesys import collector

signal.signal(signal.SIGINT, signal.default_int_handler)
collector.rarely()
