"""Scheduled repartitioning: jobs that leave a record, by hand or by the clock."""
