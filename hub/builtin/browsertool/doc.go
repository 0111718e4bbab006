// Package browsertool holds the builtin tools for browsers: browser_tab,
// browser_instance and browser_page (after Moonsurf's tools of these names). With
// them a model gets to the page whose tools it wants. None of them runs code in a
// page.
//
// A tool's failures are results in the hub's shape, {"error":{"code","message"}}. Its
// other results are one text block with a JSON object, but for a screenshot, which is
// an image.
package browsertool
