"""Commands for collections, devices and shufflers."""
