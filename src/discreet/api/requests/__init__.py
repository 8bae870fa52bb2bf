"""One frozen dataclass per verb, from which every interface is made: parameters with types, limits and documentation."""
