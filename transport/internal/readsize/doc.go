// Package readsize chooses how large a connection's next read buffer is.
package readsize
