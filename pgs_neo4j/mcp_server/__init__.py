"""The MCP server: graphs, questions, and answers as tools for agents. Needs the extra ``mcp``."""
