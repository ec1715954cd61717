"""What all tests share: interrupts, and the garbage collector as the command line has it.

A process started in the background ignores interrupts, and so would those the tests start.
"""

import signal

from odesys.expr import gc_pause

signal.signal(signal.SIGINT, signal.default_int_handler)
gc_pause.collect_less_often()
