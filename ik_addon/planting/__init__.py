"""Plant Feet: feet that stand where a motion capture lets them slide, and a body that makes every leg reach."""
