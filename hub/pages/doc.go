// Package pages serves what the hub gives to web pages: /tab.js, the script that
// joins a page to the hub, /embed.js and /widget.html, which do the same for a page
// whose policy forbids it a connection of its own, /tab.d.ts, their types, and /demo,
// a page that uses it. spec/docs/PAGES.md tells a page's author how to use them; the
// directory examples holds pages to copy.
//
// # How a page joins
//
//	<script src="http://127.0.0.1:3300/tab.js"></script>
//
// The script opens a WebSocket to /tabs of the hub that has served it, as a single
// tab of tabhub.v1. The hub knows the page's origin from the Origin header that the
// browser sets. The hub's address is written into the script, so that a copy of it,
// on another server or in a bundle, finds the hub; an attribute data-hub of a script
// element says another. The script gives the page document.modelContext where the page
// has none: it steps aside for the browser's, the extension's and a library's. It offers
// the tools of that, of an MCP-B page server, and those that the page gives to
// window.tabhub.registerTool; a tool from several sources is offered once. A page server
// that does not report changes is asked every minute. The modules of tabtransport/pagejs do
// all this, as in the companion extension.
//
// The tab's key is kept in sessionStorage and guarded by a lock, so that a reload
// keeps it and a duplicated tab gets its own. Before the page is reloaded, left or
// kept for going back the socket is closed and nothing is said: whether the tab is
// closed the page cannot know, and the hub waits some seconds for it to return.
//
// # Where the browser has the companion extension
//
// Before it opens a socket, the script asks the extension to connect the page: it fires
// the event "tabhub-page" with the hub's origin and a MessagePort, which the extension's
// content script hears before dispatchEvent returns. The content script takes the port only
// in a page that has this hub's script, so that no other page can find out that the extension is there;
// where no script element says so, as with a module, the script adds a link that names the hub.
// It does not take it where the user has switched the site off, the extension is set to
// another hub, or its hub has refused it, nor before it knows: the event itself is what
// brings it to a frame, so the first is seldom taken. A script whose port is not taken
// waits for nothing. Over the port go the frames of tabhub.v1, and the content script
// answers as a hub does, or closes the port. The script waits 1.5 s for
// the extension to say. The script then offers only what the page gave to window.tabhub and to
// the API of the script, as the extension finds the rest itself.
//
// An extension that can connect the page later fires "tabhub-extension" in it. The script then
// offers over the port first; when the hub has that ("tabhub/settle"), it withdraws what
// it offers over its own socket, answers what still runs there and closes its tab. The
// other way, the extension says "tabhub/leave" and keeps the port until what runs is
// answered. No call changes its path, so none runs twice. The two tabs have numbers of
// their own: a page that changes its path changes its number, a reload does not.
//
// # The widget, and what the hub must check
//
// /embed.js is /tab.js without a socket of the page's own: where no extension carries
// the page it puts a hidden frame of the hub's own /widget.html into the page and
// speaks tabhub.v1 through it. The socket is the widget's, so its Origin header is
// the hub's own origin and says nothing of the page. The widget therefore adds to
// the hello, as the member "tabhub/pageOrigin" of its extensions, what the browser
// says of the page around it (MessageEvent.origin). WidgetOrigin reads it.
//
// The hub takes that member for the connection's origin if and only if the Origin
// header of the socket is the hub's own origin: the request's Host under the
// listener's scheme. No other script can run there: the widget's policy
// admits none. The origin is then treated in all respects as one from an
// Origin header, which includes the list of origins that may join: the widget is no
// way around --allow-origin. With any other Origin the member is ignored. A
// second hello on a connection is refused, so a page cannot have the last word.
//
// A page that is itself the hub's own (/demo) sends no such member.
package pages
