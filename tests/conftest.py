"""What all tests share: interrupts, the garbage collector as the command line has it, and nothing measured before.

A process started in the background ignores interrupts, and so would those the tests start. Tests break code on purpose,
which values kept on disk would hide.
"""

import os
import signal

from hypothesis import settings

from odesys.expr import gc_pause

settings.register_profile("patient", deadline=None)  # the first example compiles, and machines are busy
settings.load_profile("patient")
os.environ["ODESYS_MEASUREMENTS"] = "anew"
os.environ["COLUMNS"] = "200"  # lines are not broken, but in the tests that are about that
signal.signal(signal.SIGINT, signal.default_int_handler)
gc_pause.collect_less_often()
