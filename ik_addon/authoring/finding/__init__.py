"""Which bones of an armature are its legs and arms."""
