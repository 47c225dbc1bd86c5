// Package timeout ends connections whose peer has stopped: Read when nothing comes though it
// is waited for, Write when nothing that was sent is taken.
package timeout
