// Package demo is a small shop that offers its tools, resources and a prompt from
// inside the hub's process, as a tab of the domain demo.tabhub: a client sees and
// calls tools before any browser is open. shop.json holds the goods and what is
// offered; the page /demo of package pages is the same shop in a browser.
//
// Prices are in euro cents, ids are integers, nothing is kept when the process
// ends.
package demo
