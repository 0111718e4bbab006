// Package home is a hub's data directory: where it is, the token, and how processes
// find and exclude one another there.
//
//	tabhub.db    the store
//	token        the secret that clients over HTTP show; 0600
//	clients.json the clients with tokens of their own, and the hashes of these; 0600
//	grants.json  which of them have signed in, and the hashes of their tokens; 0600
//	instance     what tells this hub from others; no secret
//	pairings     the browsers that are paired with the hub, and their keys; 0600
//	extensions   the directories that the extension was written to
//	hub.json     what the running hub is; 0600, written when it is ready
//	hub.sock     where bridges and commands reach it; 0600
//	hub.lock     locked by the hub for as long as it lives
//	start.lock   locked by the bridge that is starting a hub
//	hub.log      what a hub that a bridge has started logs
//	browsers/    profiles of the browsers that the hub starts
//
// hub.lock decides whether a hub runs. hub.json alone does not: a killed hub leaves
// it behind, and its address may be another program's by then. Nothing of this package
// connects to that address: it is for people and for what they configure. Processes of
// the hub's user use hub.sock, at which nobody else can listen.
package home
