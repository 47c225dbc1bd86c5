// Package pool keeps connections for whoever needs one for a while. Acquire gives a
// connected channel out, Release takes it back; Use does both around the work of one request.
//
// Simple reuses the channel that was released last, after a look at its health, and
// connects a new one when there is none. Fixed is Simple with a bound on the channels that
// are out at the same time; more acquires wait, a bounded number of them and a bounded
// time.
//
// A channel that closes leaves its pool by itself, idle or not: whoever had it need not
// release it, but may.
package pool
