// Package files answers requests for the files of one directory tree: whole files and ranges
// of them, conditional requests, index pages and listings (RFC 9110 sections 8.8, 13 and 14).
//
// The work is split so that nothing blocks an event loop. Tree.Answer opens and looks at
// files, which may wait for a disk, so it is called on an ordinary goroutine; what it returns
// is complete but for the sending, which is the loop's part and copies nothing: file ranges
// leave as they are, with sendfile(2) where the transport can.
//
// Nothing outside the tree can be reached. Names are resolved by os.Root, which follows
// symbolic links as long as they stay inside. Files and directories whose name begins with a
// dot are neither listed nor served, except for .well-known (RFC 8615): they tend to be what
// nobody meant to publish. Only regular files are served; a device or a pipe is not found.
package files
