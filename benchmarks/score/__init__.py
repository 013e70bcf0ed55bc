"""What works where: files of exporters as they are, simplified, and repaired, for targets."""
