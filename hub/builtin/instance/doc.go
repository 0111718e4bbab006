// Package instance starts and stops browsers on this machine: Chromium or Chrome with
// a profile of their own and the companion extension, which joins them to the hub.
//
// Below the directory that Options name, each profile has
//
//	PROFILE/MODE       the browser's user data; a profile of Chrome is none of Chromium
//	PROFILE/extension  the profile's copy of the extension, which is paired with the hub:
//	                   by the pairing the hub knows the browser
//	PROFILE/downloads  where the browser saves files
//
// A browser does not outlive the hub: it is closed with it, and on Linux and Windows
// the system ends it should the hub be killed.
package instance
