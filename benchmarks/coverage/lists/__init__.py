"""Lists of operators that others keep, each a module that yields its cases."""
