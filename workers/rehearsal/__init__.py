"""The test kit for authors, imported as ``receiver.testing``: their operations, run in process on fakeredis."""
