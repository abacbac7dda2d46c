"""Where people and time enter: chat, command line, answering, wiring."""
