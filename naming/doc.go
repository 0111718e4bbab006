// Package naming makes the names under which the hub shows what tabs offer: a
// domain key for each web origin, and a public name or URI for each tool, prompt
// and resource of a domain or of one of its tabs.
//
// Everything here is a pure function of its arguments and safe for concurrent use.
// A call is routed by a lookup of its name, not by what the name looks like.
//
// # What a name says
//
// A model and a person read a name, and must not take one site for another. So the
// form of a name alone says whose it is:
//
//	website_tool_<domain>_<tool>          where only this domain can be read
//	website_tool_<domain>__<tool>         elsewhere: the first "__" ends the domain
//	website_tool_<domain>_<tool>_<hash>   shortened, with "_" or "__" by the same rule
//	pack_<pack>_<domain>_<tool>           a pack's tool at this domain, else the same
//
// In <domain> each ".", ":" of the key is "_". Marks (unverified_, http_, https_) come
// first, as in the key. What follows can be read as any well-known host, with a port
// or without: a name of two labels or more whose last is a top-level domain of the
// public suffix list, an IP address, or localhost. One "_" is used if <domain> is such
// a host and no other, shorter or longer, can be read; a shorter one that ends within
// the domain's own public suffix does not count. A port ends the domain: a longer host
// with a number between its labels is not read.
//
//	bank.co.uk        transfer      website_tool_bank_co_uk_transfer
//	bank.co           uk_transfer   website_tool_bank_co__uk_transfer
//	example.com       search        website_tool_example_com_search
//	example.com       search_all    website_tool_example_com__search_all   "search" is a top-level domain
//	docs.google.com   open          website_tool_docs_google_com__open     so is "google"
//	localhost:5173    search_all    website_tool_localhost_5173_search_all
//	demo.tabhub       checkout      website_tool_demo_tabhub__checkout     "tabhub" is none
//
// A name of either form belongs to one domain, and within it to the items whose names
// differ only in characters that public names exclude. The first such item has the name;
// the names of the others end in a hash. So do names that are too long, that look like a
// tab's name or end like a hash, and all names of a domain that would look like another:
// its host has "_" or a trailing dot, or its first label is a mark.
//
// A shortened name shows all marks, and the domain, which may lose its first labels
// but none of the registrable domain (eTLD+1). If that does not fit, or cannot be
// shown, "site" stands for all of the host and the port:
// website_tool_unverified_site__<tool>_<hash>. It shows 12 bytes of a pack's name.
package naming
