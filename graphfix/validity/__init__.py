"""What is wrong with a file whichever engine reads it: forms, types, shapes and stored data."""
