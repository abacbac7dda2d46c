"""Conversations on any platform."""
