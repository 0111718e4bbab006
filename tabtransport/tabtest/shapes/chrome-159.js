outputSchemas();
