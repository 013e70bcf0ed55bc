"""Every file x every target: does `check` raise anything, and does `run` on a sample of them?"""
