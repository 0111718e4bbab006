// Package tenant holds all that one user has in a hub process, and is the one place where
// that is opened and closed.
//
// A Tenant is a user's Hub and what serves it or belongs to it: the MCP server, the builtin
// tools, the browsers that were started for the user, the demo's tab. Two tenants share
// the process, its listeners and its store, and nothing else, so that what is one user's
// cannot be reached through another's.
//
// A Registry has the tenants of a process. Each of them
//
//   - is opened by the first Get of its user; concurrent ones wait for the same tenant.
//     If that fails, the next Get tries again;
//   - stays open while it is unused: its tabs may come back, and their tools are still
//     listed;
//   - is closed when its Hub has ended by itself (hub.Hub.Done), as it does when another
//     hub has taken over the user's store. The next Get waits until it is closed, and opens
//     another, as it does after LetGo;
//   - is closed with the Registry.
package tenant
