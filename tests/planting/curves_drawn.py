"""Curves for characters to walk along."""

import bpy


def curve_through(points, is_closed=False, kind="BEZIER", name="Way") -> bpy.types.Object:
    """A curve object through points, smooth between them."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new(kind)
    knots = spline.bezier_points if kind == "BEZIER" else spline.points
    knots.add(len(points) - 1)
    for knot, point in zip(knots, points, strict=True):
        knot.co = point if kind == "BEZIER" else (*point, 1.0)
        if kind == "BEZIER":
            knot.handle_left_type = knot.handle_right_type = "AUTO"
        elif kind == "NURBS":
            spline.use_endpoint_u = True
    spline.use_cyclic_u = is_closed
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob
