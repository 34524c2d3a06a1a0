"""The parts of the experiment in `benchmarks.triangulation_paper`.

The paper: R. Mueller-Cajar and R. Mukundan, "Triangulation: a new algorithm for inverse kinematics".
"""

import bpy  # noqa: F401  (brings mathutils)
