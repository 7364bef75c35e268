"""Reports: text, concise, json, sarif, github, gitlab."""
