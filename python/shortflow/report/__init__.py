"""What people see: tables for the terminal, plots and pages."""
