//go:build !unix

package files

// openNonblock is not needed where pipes have no name in the file system.
const openNonblock = 0
