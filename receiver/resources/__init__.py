"""Resources: what clients read by URI.  Nothing here knows a store or a transport."""
