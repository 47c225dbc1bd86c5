// Package ipaddr reads IP addresses that stand as text in bytes, in the host of a URL or the
// line of a proxy protocol, without making a string.
//
// What is an address is what net/netip says, which has all the rest: addresses are its Addr,
// and are written by its AppendTo.
package ipaddr
