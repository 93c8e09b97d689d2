"""Python API for scripts and notebooks: functions, and the objects they return."""
