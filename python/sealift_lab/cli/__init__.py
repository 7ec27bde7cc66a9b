"""The commands `sealift lab` and `sealift dpu`: each a module, with how they parse and print."""
