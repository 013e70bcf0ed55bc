"""What a pass file imports: views of nodes and values, the builder, and the declarations."""
