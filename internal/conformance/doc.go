// Package conformance is the one test suite of all transports: it says what a channel does,
// whatever moves its bytes.
//
// It never sleeps. A test waits for a condition, with a deadline that only a failure
// reaches; that something does not happen it shows by having something later happen on the
// same loops (env.barrier).
package conformance
