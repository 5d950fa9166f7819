"""Examines a setup from configuration to model, and suggests fixes."""
