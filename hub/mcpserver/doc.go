// Package mcpserver serves a hub as an MCP server: over newline-delimited streams
// (stdio, /attach), over SSE as MCP 2024-11-05 and Moonsurf have it, and over
// Streamable HTTP, in every revision from 2024-11-05 to 2026-07-28.
package mcpserver
