// Package limit has the convention of all options that bound something: zero means the default,
// and less than zero that there is no bound.
package limit
