"""Reports as one HTML file that needs no network: what is on the page, and how it is drawn."""
