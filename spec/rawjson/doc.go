// Package rawjson reads JSON without copying it: it checks a text once, at full
// speed, and hands out its parts as slices of it. It is what keeps schemas,
// arguments and results the bytes that a page or a client wrote.
//
// The checking functions (Valid, Object, Array, Decode) take any bytes and accept
// exactly the texts of RFC 8259 in valid UTF-8, which encoding/json does not ask
// for. The others (Get, Members, Cursor, String, Compact …) trust that their input was
// checked; given anything else they return something useless but neither panic nor loop.
//
// No function recurses without a bound, keeps its arguments or holds state, so all
// are safe for concurrent use. What is handed out shares memory with the input: it
// is valid until the input is modified, and it keeps all of the input alive. Clone
// what is to live longer.
package rawjson
