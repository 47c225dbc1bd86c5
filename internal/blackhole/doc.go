// Package blackhole has connections to nowhere, for tests and benchmarks that count what
// handlers cost: unlike package embedded it keeps nothing of what is sent, and allocates nothing.
package blackhole
