"""Stores runs, sessions, sweeps, answers, and jobs in the database, and reads them back."""
