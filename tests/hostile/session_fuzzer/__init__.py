"""Clients that send requests of all kinds, sound, random and damaged, and judge what they cost a server."""
