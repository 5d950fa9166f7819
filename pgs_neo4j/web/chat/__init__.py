"""Chats: questions in the form of OpenAI's API, for programs that know no other."""
