// Package bootstrap puts the parts together: Server binds listeners and gives each accepted
// connection a channel on a loop, Client connects channels.
//
// Both need a loop group, a transport, and an Init function that fills a new channel's
// pipeline; each has a sensible default but Init.
package bootstrap
