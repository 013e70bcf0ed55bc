"""Views of the report's dataclasses: text for people, JSON for programs, Markdown for both."""
