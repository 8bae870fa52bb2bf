"""One runner a system, each started by the Python of its own virtual environment: the peers' pins clash."""
