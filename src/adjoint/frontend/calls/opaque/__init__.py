"""Calls of what cannot be seen: functions without a visible body, classes of libraries."""
