"""Chains of ball joints in two libraries for robots, to stand beside the solvers; neither needs to be installed.

Both solve general robots and neither knows a pole. Each solver brings the end of a straight chain to a target and
returns by how much it missed, in chain lengths.
"""

import logging
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec

Peer = Callable[[Sequence[float]], float]

TOLERANCE = 1e-6
"""In chain lengths; what float32 leaves the solvers of this extension."""


def pinocchio_solver(lengths: Sequence[float]) -> Peer | None:
    """Damped least squares over Pinocchio's kinematics, as in its example "Inverse kinematics (clik)".

    Only the end's position counts. The damping follows the distance left, so that the last steps are Newton's.
    """
    if find_spec("pinocchio") is None:
        return None
    import numpy as np
    import pinocchio as pin

    model, parent, before = pin.Model(), 0, 0.0
    for k, length in enumerate(lengths):
        place = pin.SE3(np.eye(3), np.array((0.0, 0.0, before)))
        parent, before = model.addJoint(parent, pin.JointModelSpherical(), place, f"joint {k}"), length
    end = pin.SE3(np.eye(3), np.array((0.0, 0.0, before)))
    frame = model.addFrame(pin.Frame("end", parent, 0, end, pin.FrameType.OP_FRAME))
    data, reach = model.createData(), sum(lengths)
    start = pin.integrate(model, pin.neutral(model), np.full(model.nv, 0.1))

    def solver(target: Sequence[float]) -> float:
        pose, goal = start, np.array(target)
        for _ in range(500):
            pin.computeJointJacobians(model, data, pose)
            place = pin.updateFramePlacement(model, data, frame)
            error = goal - place.translation
            missed = float(np.linalg.norm(error)) / reach
            if missed <= TOLERANCE:
                break
            jacobian = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)[:3]
            damped = jacobian @ jacobian.T + 1e-2 * missed * reach * reach * np.eye(3)
            pose = pin.integrate(model, pose, jacobian.T @ np.linalg.solve(damped, error))
        return missed

    return solver


def ikpy_solver(lengths: Sequence[float]) -> Peer | None:
    """IKPy's `Chain.inverse_kinematics`, with two hinges for each ball joint."""
    if find_spec("ikpy") is None:
        return None
    logging.getLogger("ikpy").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="ikpy")
    import numpy as np
    from ikpy.chain import Chain
    from ikpy.link import OriginLink, URDFLink

    links, before = [OriginLink()], 0.0
    for k, length in enumerate(lengths):
        for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
            links.append(URDFLink(f"{k} {axis}", (0.0, 0.0, before), (0.0, 0.0, 0.0), rotation=axis))
            before = 0.0
        before = length
    links.append(URDFLink("end", (0.0, 0.0, before), (0.0, 0.0, 0.0), joint_type="fixed", rotation=None))
    chain = Chain(links, active_links_mask=[False, *[True] * (len(links) - 2), False])
    start, reach = [0.0, *[0.1] * (len(links) - 2), 0.0], sum(lengths)

    def solver(target: Sequence[float]) -> float:
        pose = chain.inverse_kinematics(target, initial_position=start)
        return float(np.linalg.norm(chain.forward_kinematics(pose)[:3, 3] - np.array(target))) / reach

    return solver


SOLVERS: dict[str, Callable[[Sequence[float]], Peer | None]] = {"pinocchio": pinocchio_solver, "ikpy": ikpy_solver}
