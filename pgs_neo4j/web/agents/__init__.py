"""``/mcp``: the tools of ``pgs mcp`` for agents, behind the same guard as the API."""
