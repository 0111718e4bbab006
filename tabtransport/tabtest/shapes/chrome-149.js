// The beginning of the origin trial: navigator has the context, too.
onNavigator();
eventsOnWindow();
jsonText();
