"""What engine versions accept, as data: one generated TOML profile per version."""
