"""SELECTs that aggregate across people, and SELECTs over what they release."""
