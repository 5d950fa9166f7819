"""Chats: questions and answers in the format of OpenAI's API, for chat programs."""
