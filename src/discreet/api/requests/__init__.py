"""One frozen dataclass per verb: its parameters with types, limits and documentation. Every interface is made from these."""
