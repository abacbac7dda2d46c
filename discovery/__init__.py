"""What is concluded from questions and documents: rules, gaps, topics."""
