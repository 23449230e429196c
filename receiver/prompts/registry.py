"""The prompts of one receiver."""

from receiver.operation import Registry
from receiver.prompts.prompt import Prompt


class Prompts(Registry[Prompt]):
    """Prompts by name."""
