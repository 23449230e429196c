"""The resources of one receiver."""

from typing import Any

from receiver.operation import Registry
from receiver.resources.resource import Resource


class Resources(Registry[Resource]):
    """Resources by URI, and by template."""

    @property
    def fixed(self) -> list[Resource]:
        """Those of one URI: what ``resources/list`` shows."""
        return [resource for resource in self if not resource.is_template]

    @property
    def templates(self) -> list[Resource]:
        """Those of a template: what ``resources/templates/list`` shows."""
        return [resource for resource in self if resource.is_template]

    def find(self, uri: str) -> tuple[Resource, dict[str, Any]] | None:
        """The resource that ``uri`` names and the arguments in it, or None if there is none.

        One of exactly this URI comes first, then the templates in the order in which they were added.
        """
        exact = self.get(uri)
        if exact is not None and not exact.is_template:
            return exact, {}
        for resource in self.templates:
            if (arguments := resource.arguments_of(uri)) is not None:
                return resource, arguments
        return None
