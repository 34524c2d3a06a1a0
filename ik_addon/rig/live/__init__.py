"""The application handlers, and the plan that makes them quick."""
