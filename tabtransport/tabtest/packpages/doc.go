// Package packpages is a server with pages of sites that offer no tools, and packs for them. The
// tools of the packs use each verb and each kind of token; the server counts what they did.
//
//   - shop: a table, a search, a cart, a checkout over several pages; its server asks for the token
//     of a meta element, and for that of a hidden field
//   - calendar: a page that renders itself and never navigates; the token is in a cookie
//   - mail: a list, a search by Enter, messages on pages of their own; the token is on another page
//   - forms: a form in a frame, fields in shadow trees; the token is in the page's storage
//   - wiki, news, library: pages with the public structure of the sites for which hub/offer/pack/examples
//     has packs
package packpages
