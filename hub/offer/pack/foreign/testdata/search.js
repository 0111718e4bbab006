/* @meta
{
  "name": "acme/search",
  "description": "Searches notes",
  "domain": "acmenotes.com",
  "args": {"query": {"required": true, "description": "Words"}, "count": {"required": false, "type": "number"}, "sort": "new or old"},
  "capabilities": ["network"],
  "readOnly": true,
  "example": "bb-browser site acme/search \"tea\""
}
*/
async function(args) {
  if (args.query === 'private') return {error: 'HTTP 401', hint: 'Log in first'};
  return [args.query].slice(0, parseInt(args.count) || 10);
} // ten, if nothing else is said
