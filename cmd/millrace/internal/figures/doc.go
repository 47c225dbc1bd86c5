// Package figures collects what a running server can say about itself into one Snapshot, the
// content of /stats.
package figures
