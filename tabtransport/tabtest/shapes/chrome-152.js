// Only the document has the context.
eventsOnWindow();
jsonText();
