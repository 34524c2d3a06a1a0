"""A body's pose from the pose before and a place for one joint, in plain numbers.

Style is smooth and free: shoulders, spine, hips and heels choose turns and a wish for where the hips go. Exactness is
one projection of that wish on the shifts with which all held limbs reach, and one triangle for each limb. So the pose
is a function of the pose at the start and of the place alone, and no layer of style can move what is held.
"""
