"""The soak: real orders through a real cluster that is killed all the time, and an audit of every book afterwards."""
