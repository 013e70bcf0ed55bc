"""Other people's simplifiers, run only when named."""
