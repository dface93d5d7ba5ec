"""What lies outside the program, as resources of the engine: files, sockets, databases.

While an exploration runs, what reaches them is replaced by what announces a step on a name first
(`_drawloom.touch`), and then does the same. One call is one step: nobody else runs while it is carried out. What would
wait for another thread waits in the engine.
"""

from ._anomalies import with_anomalies
from ._names import plain
from ._patches import patched

__all__ = ["patched", "plain", "with_anomalies"]
