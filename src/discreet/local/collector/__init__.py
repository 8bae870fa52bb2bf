"""The collector: receives messages from devices, keeps tallies and computes estimates."""
