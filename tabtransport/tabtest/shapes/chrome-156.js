// Schemas and inputs are objects: what Chromium 156 has.
