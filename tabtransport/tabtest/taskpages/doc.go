// Package taskpages is a server with 30 tasks, each with a page of its own and an end that the server can check:
// a shop, a calendar, tables, frames, shadow trees, endless and virtual lists, an editor, dragging, uploads,
// dialogs, forms of several steps. A page tells its server what somebody has done, by hand or through one of the
// page's tools, and a task is done if the server has been told exactly what Task.Want says, once.
//
// The tasks measure ways to use a page: its own tools, a pack, a script, and looking and clicking
// (cmd/tabhub/e2e, TestTasks).
package taskpages
