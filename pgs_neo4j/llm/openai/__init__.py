"""Any OpenAI-compatible endpoint as a language model."""
