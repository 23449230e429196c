"""An app that can't be imported."""

raise RuntimeError("broken")
