"""The editor server: open documents analysed as they are typed, and answers about places in them."""
