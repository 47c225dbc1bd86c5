// Package text is what protocols do with text in bytes, without an array or a string in
// between: UTF-8 that is checked or repaired while it comes in, written to buffers, or read
// without making the same string again and again; and names in ASCII, which are compared,
// hashed and converted by eight bytes at a time.
//
// What the standard library has is not here: utf8.Valid and utf8.AppendRune, and strings are
// written by the buffer itself (WriteString), which copies them once.
//
// A name is a slice or a string, of which every function looks at just the bytes that it is
// given, whatever array they are part of.
package text
