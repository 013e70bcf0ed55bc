"""Engine families: what their versions accept, as profiles and rules; one folder for each."""
